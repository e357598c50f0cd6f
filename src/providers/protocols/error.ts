import { noReasonMessage, type ProviderError } from '../../domain/generation/events.ts'
import { type Fields, fieldsOf, isObject, listOf, numberOf, parseJson, textOf } from '../../lib/json/json.ts'

/** Parses an error body in any of the shapes that providers of chat completions use. */
export function parseError(body: unknown): ProviderError {
  const outer = fieldsOf(Array.isArray(body) ? body[0] : body)
  const error = isObject(outer.error) ? outer.error : outer
  return {
    message: messageOf(error, outer) ?? plainText(body) ?? noReasonMessage,
    status: statusIn(error.status) ?? statusIn(error.status_code) ?? statusIn(error.code),
    type: textOf(error.type) ?? textOf(error.status),
    code: statusIn(error.code) === undefined ? textOf(error.code) : undefined,
    param: textOf(error.param),
    retryAfter: numberOf(error.retry_after) ?? retryDelayIn(error),
  }
}

/** True where a body or a chunk reports an error instead of content. */
export function hasError(object: Fields): boolean {
  const { error } = object
  return (
    (error !== undefined && error !== null && error !== '' && error !== false) || object.object === 'error'
  )
}

function messageOf(error: Fields, outer: Fields): string | undefined {
  const message = textOf(error.message) ?? detailOf(error.message) ?? textOf(outer.error)
  const cause = textOf(fieldsOf(error.metadata).raw)
  // A router says only that a provider behind it failed; that provider's own message is more useful.
  if (cause !== undefined && (message === undefined || message === 'Provider returned error'))
    return innerMessage(cause)
  return message ?? detailOf(outer) ?? textOf(error.msg)
}

function innerMessage(cause: string): string {
  const inner = parseJson(cause)
  return isObject(inner) ? parseError(inner).message : cause
}

/** `detail` is a sentence, or a list of invalid fields. */
function detailOf(object: unknown): string | undefined {
  const { detail } = fieldsOf(object)
  const problems = listOf(detail).map((item) => {
    const { msg, loc } = fieldsOf(item)
    return [listOf(loc).slice(1).join('.'), textOf(msg)].filter(Boolean).join(': ')
  })
  return textOf(detail) ?? textOf(problems.filter(Boolean).join('; '))
}

function statusIn(value: unknown): number | undefined {
  const status = typeof value === 'string' && value !== '' ? Number(value) : value
  return typeof status === 'number' && status >= 400 && status <= 599 ? status : undefined
}

/** In seconds: Google's RetryInfo has a `retryDelay` such as `12s`. */
function retryDelayIn(error: Fields): number | undefined {
  for (const detail of listOf(error.details)) {
    const seconds = Number.parseFloat(textOf(fieldsOf(detail).retryDelay) ?? '')
    if (Number.isFinite(seconds)) return seconds
  }
  return undefined
}

/** The text of a body that is not JSON; undefined for the HTML page of a proxy. */
function plainText(body: unknown): string | undefined {
  const text = textOf(body)?.trim()
  return text?.startsWith('<') ? undefined : text?.slice(0, 500)
}
