import { type ProviderError, noReason } from '../../../domain/generation/provider-error.ts'
import {
  type Fields,
  fieldsOf,
  isObject,
  listOf,
  numberOf,
  parseJson,
  textOf,
} from '../../../lib/json/json.ts'

/** What an error body says, in any of the shapes that providers of chat completions give it. */
export function parseError(body: unknown): ProviderError {
  const outer = fieldsOf(Array.isArray(body) ? body[0] : body)
  const error = isObject(outer.error) ? outer.error : outer
  return {
    message: messageOf(error, outer) ?? plainText(body) ?? noReason,
    status: statusIn(error.status) ?? statusIn(error.status_code) ?? statusIn(error.code),
    type: textOf(error.type) ?? textOf(error.status),
    code: statusIn(error.code) === undefined ? textOf(error.code) : undefined,
    retryAfter: numberOf(error.retry_after) ?? retryDelayIn(error),
  }
}

/** True where an object of an answer is an error in place of one. */
export function tellsError(object: Fields): boolean {
  const { error } = object
  return (
    (error !== undefined && error !== null && error !== '' && error !== false) || object.object === 'error'
  )
}

function messageOf(error: Fields, outer: Fields): string | undefined {
  const said = textOf(error.message) ?? explanationOf(error.message) ?? textOf(outer.error)
  const cause = textOf(fieldsOf(error.metadata).raw)
  // A router says only that somebody behind it failed; what that one said is more use.
  if (cause !== undefined && (said === undefined || said === 'Provider returned error'))
    return innerMessage(cause)
  return said ?? explanationOf(outer) ?? textOf(error.msg)
}

function innerMessage(cause: string): string {
  const inner = parseJson(cause)
  return isObject(inner) ? parseError(inner).message : cause
}

/** `{detail}` holds a sentence or a list of broken fields. */
function explanationOf(holder: unknown): string | undefined {
  const { detail } = fieldsOf(holder)
  const complaints = listOf(detail).map((item) => {
    const { msg, loc } = fieldsOf(item)
    return [listOf(loc).slice(1).join('.'), textOf(msg)].filter(Boolean).join(': ')
  })
  return textOf(detail) ?? textOf(complaints.filter(Boolean).join('; '))
}

function statusIn(value: unknown): number | undefined {
  const status = typeof value === 'string' && value !== '' ? Number(value) : value
  return typeof status === 'number' && status >= 400 && status <= 599 ? status : undefined
}

/** Google's RetryInfo: `retryDelay` of `12s`. */
function retryDelayIn(error: Fields): number | undefined {
  for (const detail of listOf(error.details)) {
    const seconds = Number.parseFloat(textOf(fieldsOf(detail).retryDelay) ?? '')
    if (Number.isFinite(seconds)) return seconds
  }
  return undefined
}

/** A text body in place of JSON, unless it is a page of a proxy on the way. */
function plainText(body: unknown): string | undefined {
  const text = textOf(body)?.trim()
  return text?.startsWith('<') ? undefined : text?.slice(0, 500)
}
