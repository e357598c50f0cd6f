import { Elysia } from 'elysia'
import type { Admission } from '../gateway/rate-limits/admission.ts'
import {
  ApiError,
  bodyTooLarge,
  bodyTooSlow,
  invalidJson,
  nestedTooDeeply,
  tooManyProperties,
  unsupportedMediaType,
} from '../lib/errors/errors.ts'
import { parseJson } from '../lib/json/json.ts'
import { readText, TooLongError } from '../lib/read-text.ts'
import { withTimeout } from '../lib/time.ts'
import { cheapProperties, findTooWide, isTooDeep } from '../lib/validation/json-bounds.ts'
import { formatPath } from '../lib/validation/problem.ts'
import type { Validator } from '../lib/validation/validator.ts'

/** Milliseconds for the complete body: enough for the largest one on a slow line. */
const bodyTimeoutMs = 5 * 60_000

/** No client nests so deep. JSON can be parsed to any depth, but not serialized. */
const maxDepth = 500

/** For all objects of a body together, beyond the first `cheapProperties` of each. No client sends so many. */
const maxProperties = 16_384

/**
 * Reads the body of a request and validates it by its contract; throws a 4xx for an invalid body. Before it reads, it
 * acquires the concurrency slot (429) and the bytes (503) of the request, which its call or its reply releases. A body of
 * up to `maxWithoutSlot` bytes is read also where no slot is free.
 */
export type BodyReader = <Body>(
  request: Request,
  body: Validator<Body>,
  admission: Pick<Admission, 'acquireSlot' | 'tryAcquireSlot' | 'memory'>,
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
  return async function readBody(request, body, admission, maxWithoutSlot = 0) {
    const isSlotOptional = isShort(request.headers, maxWithoutSlot)
    const acquired = isSlotOptional ? admission.tryAcquireSlot() : admission.acquireSlot()
    if (acquired instanceof Promise) await acquired
    rejectUnsupportedBody(request.headers)
    let text: string
    try {
      text = await withTimeout(readText(request, maxBody, admission.memory.acquire), timeoutMs, bodyTooSlow)
    } catch (error) {
      rejectUnreadBody(error, maxBody)
    }
    return body.read(parseBody(text))
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

function parseBody(text: string): unknown {
  if (text === '') return undefined
  if (isTooDeep(text, maxDepth)) throw nestedTooDeeply(maxDepth)
  const widePath = findTooWide(text, maxProperties)
  if (widePath) throw tooManyProperties(maxProperties, cheapProperties, formatPath(widePath))
  const value = parseJson(text)
  if (value === undefined) throw invalidJson()
  return value
}
