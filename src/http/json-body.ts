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
import { readText, TooLong } from '../lib/read-text.ts'
import { withTimeout } from '../lib/time.ts'
import type { Contract } from '../lib/validation/contract.ts'
import { tooDeep } from '../lib/validation/nesting.ts'
import { cheapProperties, tooWide } from '../lib/validation/width.ts'
import { nameOf } from '../lib/validation/wording.ts'

/** Milliseconds for the whole body: enough for the largest one on a slow line. */
const slowest = 5 * 60_000

/** No request nests so deep; JSON can be read to any depth, but not written. */
const deepest = 500

/** Of all objects of a body together, beyond those of each that cost little. No request of a program has so many. */
const maxProperties = 16_384

/**
 * Reads the body of a request as its contract has it; throws the 4xx that says what is wrong with it. Before it reads, it
 * takes the slot (429) and the bytes (503) of the request, which hold until its reply, or its call, releases them. Bodies
 * of up to `maxWithoutSlot` bytes are read also where no slot is free.
 */
export type BodyReader = <Body>(
  request: Request,
  body: Contract<Body>,
  admission: Pick<Admission, 'takeSlot' | 'tryTakeSlot' | 'memory'>,
  maxWithoutSlot?: number,
) => Promise<Body>

/**
 * Gives every route of the plugin that uses it `readBody`. Elysia would read bodies before anything else runs, the key
 * not known yet, and would look at `request.body`, of which Bun then makes a stream that takes longer to read.
 */
export function jsonBody(maxBody: number, deadline = slowest) {
  const readBody: BodyReader = async (request, body, admission, maxWithoutSlot = 0) => {
    if (!admission.tryTakeSlot() && !isShort(request.headers, maxWithoutSlot)) admission.takeSlot()
    refuseForeignBody(request.headers)
    const text = withTimeout(readText(request, maxBody, admission.memory.take), deadline, bodyTooSlow)
    return body.read(jsonIn(await text.catch((error) => refuseUnread(error, maxBody))))
  }
  return new Elysia({ name: 'json-body', seed: maxBody }).decorate('readBody', readBody)
}

/** Any content type will do whose body is JSON: clients send none, or text/plain, and curl that of a form. */
function refuseForeignBody(headers: Headers): void {
  if (headers.get('content-type')?.startsWith('multipart/')) {
    throw unsupportedMediaType('The body must be JSON, not multipart.')
  }
  const encoding = headers.get('content-encoding') ?? 'identity'
  if (encoding !== 'identity') {
    throw unsupportedMediaType('The body must not be compressed: send it without a content-encoding.')
  }
}

function isShort(headers: Headers, maxBytes: number): boolean {
  return Number(headers.get('content-length') ?? Number.NaN) <= maxBytes
}

function refuseUnread(error: unknown, maxBody: number): never {
  if (error instanceof TooLong) throw bodyTooLarge(maxBody)
  if (error instanceof ApiError) throw error
  // The client went away in the middle of its body; nobody reads the reply.
  throw invalidJson()
}

function jsonIn(text: string): unknown {
  if (text === '') return undefined
  if (tooDeep(text, deepest)) throw nestedTooDeeply(deepest)
  const wide = tooWide(text, maxProperties)
  if (wide) throw tooManyProperties(maxProperties, cheapProperties, nameOf(wide))
  const value = parseJson(text)
  if (value === undefined) throw invalidJson()
  return value
}
