import { type ProviderError, noReasonMessage } from '../../../domain/generation/provider-error.ts'
import { type Fields, fieldsOf, isObject, listOf, numberOf, textOf } from '../../../lib/json/json.ts'

/** Parses an error body. Without an event stream, Gemini wraps it in a list. */
export function parseError(body: unknown): ProviderError {
  const { error } = fieldsOf(Array.isArray(body) ? body[0] : body)
  const fields = fieldsOf(error)
  const details = listOf(fields.details).map(fieldsOf)
  return {
    message: textOf(fields.message) ?? textOf(error) ?? plainText(body) ?? noReasonMessage,
    status: statusOf(fields),
    type: textOf(fields.status),
    code: details.map(({ reason }) => textOf(reason)).find(Boolean),
    retryAfter: details.map(retryDelay).find((seconds) => seconds !== undefined),
  }
}

/** True where a body or a chunk reports an error. */
export function hasError({ error }: Fields): boolean {
  return isObject(error) || (error !== undefined && error !== null && error !== false && error !== '')
}

function statusOf({ code }: Fields): number | undefined {
  const status = numberOf(code)
  return status !== undefined && status >= 400 && status <= 599 ? status : undefined
}

/** In seconds: Gemini sends no retry-after header, but a RetryInfo such as `12s`. */
function retryDelay({ retryDelay }: Fields): number | undefined {
  const seconds = Number.parseFloat(textOf(retryDelay) ?? '')
  return Number.isFinite(seconds) ? seconds : undefined
}

/** The text of a body that is not JSON; undefined for the HTML page of a proxy. */
function plainText(body: unknown): string | undefined {
  const text = textOf(body)?.trim()
  return text?.startsWith('<') ? undefined : text?.slice(0, 500)
}
