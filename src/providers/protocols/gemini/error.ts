import { type ProviderError, noReason } from '../../../domain/generation/provider-error.ts'
import { type Fields, fieldsOf, isObject, listOf, numberOf, textOf } from '../../../lib/json/json.ts'

/** What an error body says. Where no event stream was asked for, it comes in a list. */
export function parseError(body: unknown): ProviderError {
  const { error } = fieldsOf(Array.isArray(body) ? body[0] : body)
  const fields = fieldsOf(error)
  const details = listOf(fields.details).map(fieldsOf)
  return {
    message: textOf(fields.message) ?? textOf(error) ?? plainText(body) ?? noReason,
    status: statusOf(fields),
    type: textOf(fields.status),
    code: details.map(({ reason }) => textOf(reason)).find(Boolean),
    retryAfter: details.map(retryDelay).find((seconds) => seconds !== undefined),
  }
}

/** True where an object of an answer is an error in place of one. */
export function tellsError({ error }: Fields): boolean {
  return isObject(error) || (error !== undefined && error !== null && error !== false && error !== '')
}

function statusOf({ code }: Fields): number | undefined {
  const status = numberOf(code)
  return status !== undefined && status >= 400 && status <= 599 ? status : undefined
}

/** There is no retry-after header: RetryInfo says `12s`. */
function retryDelay({ retryDelay }: Fields): number | undefined {
  const seconds = Number.parseFloat(textOf(retryDelay) ?? '')
  return Number.isFinite(seconds) ? seconds : undefined
}

/** A text body in place of JSON, unless it is a page of a proxy on the way. */
function plainText(body: unknown): string | undefined {
  const text = textOf(body)?.trim()
  return text?.startsWith('<') ? undefined : text?.slice(0, 500)
}
