import { Elysia } from 'elysia'
import { type Payer, requireCredit } from '../gateway/billing/credit.ts'
import type { Admission } from '../gateway/rate-limits/admission.ts'
import {
  ApiError,
  bodyTooLarge,
  bodyTooSlow,
  invalidJson,
  nestedTooDeeply,
  tooManyProperties,
  tooManyValues,
  unsupportedMediaType,
} from '../lib/errors/errors.ts'
import { parseJson } from '../lib/json/json.ts'
import type { MemoryLease } from '../lib/memory-budget.ts'
import { readText, TooLongError } from '../lib/read-text.ts'
import { withTimeout } from '../lib/time.ts'
import { bytesOfWeight, cheapProperties, measureJson } from '../lib/validation/json-bounds.ts'
import { formatPath } from '../lib/validation/problem.ts'
import type { Validator } from '../lib/validation/validator.ts'

/** Milliseconds for the complete body: enough for the largest one on a slow line. */
const bodyTimeoutMs = 5 * 60_000

/** No client nests so deep. JSON can be parsed to any depth, but not serialized. */
const maxDepth = 500

/** For all objects of a body together, beyond the first `cheapProperties` of each. No client sends so many. */
const maxProperties = 16_384

/**
 * For all values of a body together: a million token IDs fit, and more than twice of what the conversation of an agent has
 * that fills a context of a million tokens. They take 8 MiB, and a tenth of a second to parse.
 */
const maxWeight = 1_048_576

/** Characters. A shorter body cannot nest too deeply, and what it takes beside its text is not worth counting. */
const minMeasuredLength = 2 * maxDepth

/** Bytes. The balance of a caller is required before a longer body is read; a shorter one is validated first. */
const maxBytesWithoutCredit = 64 * 1024

/** Who sends a body. */
export type BodySender = {
  readonly admission: Pick<Admission, 'acquireSlot' | 'tryAcquireSlot' | 'memory'>
  /** Who pays for what the body requests; absent: it is free. */
  readonly payer?: Payer
}

/**
 * Reads the body of a request and validates it by its contract; throws a 4xx for an invalid body. Before it reads, it
 * acquires the concurrency slot (429) and the bytes (503) of the request, which its call or its reply releases. A body of
 * up to `maxWithoutSlot` bytes is read also where no slot is free.
 */
export type BodyReader = <Body>(
  request: Request,
  body: Validator<Body>,
  sender: BodySender,
  maxWithoutSlot?: number,
) => Promise<Body>

/**
 * Gives every route of the plugin that uses it `readBody`. `maxBody` is in bytes. Elysia's own parser would read the body
 * before the key is verified, and its access to `request.body` makes Bun create a stream, which is slower to read.
 */
export function jsonBody(maxBody: number, timeoutMs = bodyTimeoutMs) {
  return new Elysia({ name: 'json-body', seed: maxBody }).decorate(
    'readBody',
    createBodyReader(maxBody, timeoutMs),
  )
}

/** Creates a reader of bodies of up to `maxBody` bytes. */
export function createBodyReader(maxBody: number, timeoutMs = bodyTimeoutMs): BodyReader {
  return async function readBody(request, body, { admission, payer }, maxWithoutSlot = 0) {
    const isSlotOptional = isShort(request.headers, maxWithoutSlot)
    const acquired = isSlotOptional ? admission.tryAcquireSlot() : admission.acquireSlot()
    if (acquired instanceof Promise) await acquired
    rejectUnsupportedBody(request.headers)
    let text: string
    try {
      const acquire = acquireBody(admission.memory, payer)
      text = await withTimeout(readText(request, maxBody, acquire), timeoutMs, bodyTooSlow)
    } catch (error) {
      rejectUnreadBody(error, maxBody)
    }
    return body.read(parseBody(text, admission.memory))
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
function acquireBody(memory: MemoryLease, payer: Payer | undefined): (bytes: number) => void {
  let length = 0
  return (bytes) => {
    length += bytes
    if (payer && length > maxBytesWithoutCredit) requireCredit(payer)
    memory.acquire(bytes)
  }
}

/** Parses the body, once its values, which take several times as much as its text, are acquired as well. */
function parseBody(text: string, memory: MemoryLease): unknown {
  if (text === '') return undefined
  if (text.length > minMeasuredLength) memory.acquire(valueBytes(text))
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
