import { Elysia } from 'elysia'
import {
  bodyTooLarge,
  bodyTooSlow,
  invalidJson,
  nestedTooDeeply,
  unsupportedMediaType,
} from '../lib/errors.ts'
import { parseJson } from '../lib/json.ts'
import { tooDeep } from '../lib/nesting.ts'
import { readText, TooLong } from '../lib/read-text.ts'
import { within } from '../lib/within.ts'

/** Milliseconds for the whole body: enough for the largest one on a slow line. */
const slowest = 5 * 60_000

/** No request nests so deep; JSON can be read to any depth, but not written. */
const deepest = 500

/**
 * Gives every route of the plugin that uses it its JSON body; none is undefined, which the contract of a route
 * refuses. Elysia parses bodies before anything else runs: here a parser that reads nothing takes its place, and the
 * body is read after the caller is known.
 */
export function jsonBody(maxBody: number, deadline = slowest) {
  return new Elysia({ name: 'json-body', seed: maxBody })
    .onParse({ as: 'scoped' }, () => notYetRead)
    .onTransform({ as: 'scoped' }, async function readBody(context) {
      if (context.body === notYetRead) context.body = await jsonOf(context.request, maxBody, deadline)
    })
}

const notYetRead = Symbol('a body that was not read yet')

async function jsonOf(request: Request, maxBody: number, deadline: number): Promise<unknown> {
  refuseForeignBody(request.headers)
  const text = await within(boundedText(request, maxBody), deadline, bodyTooSlow)
  if (text === '') return undefined
  if (tooDeep(text, deepest)) throw nestedTooDeeply(deepest)
  const value = parseJson(text)
  if (value === undefined) throw invalidJson()
  return value
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

async function boundedText(request: Request, maxBody: number): Promise<string> {
  try {
    return await readText(request, maxBody)
  } catch (error) {
    if (error instanceof TooLong) throw bodyTooLarge(maxBody)
    // The client went away in the middle of its body; nobody reads the reply.
    throw invalidJson()
  }
}
