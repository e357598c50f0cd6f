import type { AttemptDetails, RequestDetails } from '../domain/accounting/request-metadata.ts'
import { ApiError } from '../lib/errors/errors.ts'
import { loggable } from '../lib/text.ts'
import type { Attempt } from './observer.ts'

/** Bounds of the details of one request: with the longest texts, some kilobytes. */
const maxAttempts = 16
const maxWarnings = 8
const maxSentence = 300

/**
 * Returns the details that are recorded of a request, so that an operator sees why it failed; undefined for one that succeeded
 * at once and without warnings, as nearly all do.
 */
export function requestDetails(
  error: unknown,
  attempts: readonly Attempt[] = [],
  warnings: readonly string[] = [],
): RequestDetails | undefined {
  const isPlain = attempts.length <= 1 && attempts.every(({ outcome = 'ok' }) => outcome === 'ok')
  if (error === undefined && isPlain && warnings.length === 0) return undefined
  return {
    message: error === undefined ? undefined : sentenceOf(error),
    provider_message: error instanceof ApiError ? error.providerMessage : undefined,
    param: error instanceof ApiError ? paramOf(error) : undefined,
    attempts: attempts.length === 0 ? undefined : attempts.slice(0, maxAttempts).map(attemptDetails),
    warnings:
      warnings.length === 0
        ? undefined
        : warnings.slice(0, maxWarnings).map((warning) => loggable(withoutTexts(warning), maxSentence)),
  }
}

function attemptDetails({ route, outcome = 'ok', status, durationMs, ...rest }: Attempt): AttemptDetails {
  const { provider, model } = route
  const { message, providerMessage } = rest
  const ms = Math.round(durationMs)
  return { provider: provider.name, model, outcome, status, ms, message, provider_message: providerMessage }
}

/**
 * Returns the message of an error as it is recorded. That of a rejection is the provider's and may quote the prompt, so a
 * message of the gateway is recorded instead. Those of other client errors are recorded without the text between quotation
 * marks, in braces and in further lines. All others are the gateway's own.
 */
export function sentenceOf(error: unknown): string {
  if (!(error instanceof ApiError)) return 'The gateway encountered an internal error.'
  const { code, status, message } = error
  if (code !== null && code in rejections) return rejections[code as keyof typeof rejections]
  return loggable(status < 500 ? withoutQuotes(message, paramOf(error)) : message, maxSentence)
}

const rejections = {
  upstream_rejected: 'The provider rejected the request as invalid.',
  context_length_exceeded: 'The prompt is longer than the context window of the model.',
  content_filter: 'The provider rejected the content of the request.',
} as const

/** From the first quotation mark to the last one, because what is quoted may have some itself. */
const quoted = /(?:["`“«]|(?<![\p{L}\p{N}])['‘])(?:.*(?:["`”»]|['’](?![\p{L}\p{N}]))|.*)/u

/** Keeps the name of the parameter, if it is what is quoted first. */
function withoutQuotes(message: string, param: string | undefined): string {
  const [line = ''] = message.split(/[\r\n{]/, 1)
  const own = `'${param}'`
  const at = param === undefined ? -1 : line.indexOf(own)
  const kept = at >= 0 && !/["'`“«‘]/.test(line.slice(0, at)) ? at + own.length : 0
  const text = line.slice(0, kept) + line.slice(kept).replace(quoted, '“…”')
  return line.length < message.length ? `${text.trimEnd()} …` : text
}

/** A text that can be the name of a parameter, and no sentence. Clients may use any text as a name. */
const name = /^[\w.[\]…-]+$/

function paramOf({ param }: ApiError): string | undefined {
  return param !== null && name.test(param) ? loggable(param) : undefined
}

/** Keeps what a warning names in backticks where all of it can be names. */
function withoutTexts(warning: string): string {
  const [begin, end] = [warning.indexOf('`'), warning.lastIndexOf('`')]
  if (begin === end) return warning
  const names = warning.slice(begin + 1, end).split(/`(?:, | and )`/)
  return names.every((text) => name.test(text))
    ? warning
    : `${warning.slice(0, begin)}“…”${warning.slice(end + 1)}`
}
