import { Elysia } from 'elysia'
import { requireCredit } from '../gateway/billing/billing.ts'
import type { Admission } from '../gateway/rate-limits/admission.ts'
import { BodyTurns, minTurnBody } from '../gateway/rate-limits/body-turns.ts'
import { type BodyTurn, LargeBodies, minLargeBody } from '../gateway/rate-limits/large-bodies.ts'
import {
  ApiError,
  invalidJson,
  nestedTooDeeply,
  tooManyEscapes,
  tooManyProperties,
  tooManyValues,
} from '../lib/errors/errors.ts'
import { bodyTooSlow, unsupportedMediaType, bodyTooLarge } from '../lib/errors/http-errors.ts'
import { parseJson } from '../lib/json/json.ts'
import type { MemoryLease } from '../lib/memory-budget.ts'
import { readText, TooLongError } from '../lib/read-text.ts'
import { nextTurn, withTimeout } from '../lib/time.ts'
import { bytesOfWeight, cheapProperties, hasMoreEscapes, measureJson } from '../lib/validation/json-bounds.ts'
import { formatPath } from '../lib/validation/problem.ts'
import type { Validator } from '../lib/validation/validator.ts'
import { maxWeight } from '../lib/validation/value-budget.ts'
import type { Caller } from './authentication.ts'

/** Milliseconds for the complete body: enough for the largest one on a slow line. */
const bodyTimeoutMs = 5 * 60_000

/** No client nests so deep. JSON can be parsed to any depth, but not serialized. */
const maxDepth = 500

/** For all objects of a body together, beyond the first `cheapProperties` of each. No client sends so many. */
const maxProperties = 16_384

/**
 * Parsed in a twentieth of a second, where an escape takes as long as twenty plain characters. The conversation that fills a
 * context of a million tokens has fewer, also in Chinese and from a client that escapes all but ASCII.
 */
const maxEscapes = 2_097_152

/** Characters. A shorter body cannot nest too deeply, and what it takes beside its text is not worth counting. */
const minMeasuredLength = 2 * maxDepth

/** Bytes. The balance of a caller is required before a longer body is read; a shorter one is validated first. */
const maxBytesWithoutCredit = 64 * 1024

/** Who sends a body. */
type BodySender = {
  readonly admission: Pick<Admission, 'acquireSlot' | 'tryAcquireSlot' | 'memory'>
  /** Absent for the operator. */
  readonly caller?: Pick<Caller, 'organization' | 'hasCredit'>
}

/** How the bodies of a route are read. */
type BodyOptions = {
  /** Bytes. A body up to this length is read also where no slot is free. */
  readonly maxWithoutSlot?: number
  /** Whether the caller pays nothing for what the body requests. */
  readonly isFree?: boolean
}

/**
 * Reads the body of a request and validates it by its contract; throws a 4xx for an invalid body. Before it reads, it
 * acquires the concurrency slot (429) and the bytes (503) of the request, which its call or its reply releases.
 */
type BodyReader = <Body>(
  request: Request,
  body: Validator<Body>,
  sender: BodySender,
  options?: BodyOptions,
) => Promise<Body>

export type BodyReaderDependencies = {
  /** Bytes. */
  readonly maxBody: number
  /** Milliseconds for the complete body. */
  readonly timeoutMs?: number
  readonly largeBodies?: LargeBodies
}

/**
 * Gives every route of the plugin that uses it `readBody`. Elysia's own parser would read the body before the key is
 * verified, and its access to `request.body` makes Bun create a stream, which is slower to read.
 */
export function jsonBody(parts: BodyReaderDependencies) {
  return new Elysia({ name: 'json-body', seed: parts.maxBody }).decorate('readBody', createBodyReader(parts))
}

/** Creates a reader of bodies of up to `maxBody` bytes. */
export function createBodyReader(parts: BodyReaderDependencies): BodyReader {
  const { maxBody, timeoutMs = bodyTimeoutMs, largeBodies = new LargeBodies() } = parts
  const turns = new BodyTurns()
  return async function readBody(request, body, sender, options = {}) {
    const { admission, caller } = sender
    const isSlotOptional = isShort(request.headers, options.maxWithoutSlot ?? 0)
    const acquired = isSlotOptional ? admission.tryAcquireSlot() : admission.acquireSlot()
    if (acquired instanceof Promise) await acquired
    rejectUnsupportedBody(request.headers)
    let text: string
    try {
      const acquire = acquireBody(sender, options, largeBodies)
      text = await withTimeout(readText(request, maxBody, acquire), timeoutMs, bodyTooSlow)
    } catch (error) {
      rejectUnreadBody(error, maxBody)
    }
    if (text === '') return body.read(undefined)
    const isMeasured = text.length < minLargeBody || !caller
    if (caller && isMeasured && text.length >= minTurnBody) await turns.enter(caller.organization)
    const bytes = isMeasured ? acquireValues(text, admission.memory) : text.length
    if (bytes < minLargeBody || !caller) return body.read(parseText(text))
    // The text was decoded, or measured, in this turn of the event loop.
    await nextTurn()
    const turn = await largeBodies.enter(caller.organization, request.signal)
    return await readInTurn(turn, text, body, isMeasured ? undefined : admission.memory)
  }
}

/**
 * Measures, parses and validates a large body in a turn of the event loop each; what its service does with it follows in
 * another one. `memory` is absent for a short one that has been measured: it is large because of its many values.
 */
async function readInTurn<Body>(
  turn: BodyTurn,
  text: string,
  body: Validator<Body>,
  memory: MemoryLease | undefined,
): Promise<Body> {
  try {
    await turn.run(() => {
      if (hasMoreEscapes(text, maxEscapes)) throw tooManyEscapes(maxEscapes)
    })
    if (memory) await turn.run(() => acquireValues(text, memory))
    const value = await turn.run(() => parseText(text))
    return await turn.run(() => body.read(value))
  } finally {
    turn.end()
  }
}

/** Any other content type is accepted if its body is JSON: clients send none or text/plain, and curl that of a form. */
function rejectUnsupportedBody(headers: Headers): void {
  if (headers.get('content-type')?.startsWith('multipart/')) {
    throw unsupportedMediaType('Multipart request bodies are not supported. Send the body as JSON.')
  }
  const encoding = headers.get('content-encoding') ?? 'identity'
  if (encoding !== 'identity') {
    throw unsupportedMediaType(
      'Compressed request bodies are not supported. Send the body without a Content-Encoding header.',
    )
  }
}

function isShort(headers: Headers, maxBytes: number): boolean {
  return Number(headers.get('content-length') ?? Number.NaN) <= maxBytes
}

function rejectUnreadBody(error: unknown, maxBody: number): never {
  if (error instanceof TooLongError) throw bodyTooLarge(maxBody)
  if (error instanceof ApiError) throw error
  // The client left before the end of its body: the reply reaches no one.
  throw invalidJson()
}

/** Acquires the length of a body, or of its pieces, before it is read: a caller who cannot pay sends no large one. */
function acquireBody(
  { admission, caller }: BodySender,
  { isFree = false }: BodyOptions,
  largeBodies: LargeBodies,
): (bytes: number) => void {
  let length = 0
  let taken = 0
  return (bytes) => {
    length += bytes
    if (caller && !isFree && length > maxBytesWithoutCredit) requireCredit(caller)
    if (caller && length >= minLargeBody) {
      largeBodies.takeBytes(caller.organization, length - taken)
      taken = length
    }
    admission.memory.acquire(bytes)
  }
}

/** Acquires the values of a body before it is parsed, which take several times as much as its text; returns their bytes. */
function acquireValues(text: string, memory: MemoryLease): number {
  if (text.length <= minMeasuredLength) return 0
  const bytes = valueBytes(text)
  memory.acquire(bytes)
  return bytes
}

function parseText(text: string): unknown {
  const value = parseJson(text)
  if (value === undefined) throw invalidJson()
  return value
}

function valueBytes(text: string): number {
  const { weight, broken, path = [] } = measureJson(text, { maxDepth, maxProperties, maxWeight })
  if (broken === 'depth') throw nestedTooDeeply(maxDepth)
  if (broken === 'properties') throw tooManyProperties(maxProperties, cheapProperties, formatPath(path))
  if (broken === 'weight') throw tooManyValues(maxWeight, formatPath(path.slice(0, 1)))
  return weight * bytesOfWeight
}
