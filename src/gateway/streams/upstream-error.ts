import { ExcessiveAnswerError } from '../../domain/generation/answer.ts'
import {
  connectionClosed,
  noReasonMessage,
  type ProviderError,
  tooLarge,
  unreadable,
} from '../../domain/generation/events.ts'
import { ApiError } from '../../lib/errors/errors.ts'
import {
  upstreamBroken,
  upstreamExcessive,
  upstreamFailed,
  upstreamRejected,
} from '../../lib/errors/upstream-errors.ts'
import { TooLongError } from '../../lib/read-text.ts'

/**
 * The error for the caller that corresponds to the provider's error. `keys` are scrubbed from its message.
 */
export function toApiError(
  error: ProviderError,
  provider: string,
  host: string,
  keys: readonly string[] = [],
): ApiError {
  const { status = 502 } = error
  const codes = `${error.code ?? ''} ${error.type ?? ''}`
  const text = `${codes} ${withoutQuotes(error.message)}`
  const isRejection = status === 400 || status === 413 || status === 422
  if (status === 401 || status === 403 || (isRejection && isKeyError(codes, error.message))) {
    const message = `The provider ${provider} rejected the API key of the gateway.`
    return upstreamBroken('provider_key_rejected', message)
  }
  if (status === 402 || (status === 429 && quotaCode.test(codes))) {
    const message = `The quota of the gateway at the provider ${provider} is exhausted.`
    return upstreamBroken('provider_quota_exhausted', message)
  }
  if (status === 404 || (isRejection && aboutModel.test(text))) {
    const isModel = isRejection || namesModel.test(`${codes} ${error.message}`)
    const missing = isModel ? 'this model' : 'this model, or not this endpoint'
    return upstreamBroken('upstream_model_not_found', `The provider ${provider} does not have ${missing}.`)
  }
  if (status === 429) {
    const message = `The rate limit of the gateway at the provider ${provider} is exceeded.`
    return upstreamFailed('upstream_rate_limited', message, error.retryAfter)
  }
  if (error === tooLarge) return responseExcessive(provider, error.message)
  if (!isRejection) return upstreamUnavailable(provider, failureReason(error), error.retryAfter)
  return upstreamRejected(scrub(error.message, host, keys), rejectionCode(text))
}

/** 502: the provider cannot be reached, or its response cannot be used. */
export function upstreamUnavailable(provider: string, reason: string, retryAfter?: number): ApiError {
  return upstreamFailed('upstream_unavailable', failedMessage(provider, reason), retryAfter)
}

/** 502: the provider has begun a response, and it could not be read to its end. */
export function responseCut(provider: string, error: unknown): ApiError {
  const { message } = readFailure(error)
  if (error instanceof TooLongError || error instanceof ExcessiveAnswerError)
    return responseExcessive(provider, message)
  return upstreamFailed(
    'upstream_unavailable',
    failedMessage(provider, message),
    undefined,
    new CutResponse(message),
  )
}

/** 502: the provider has generated more than the gateway accepts. */
export function responseExcessive(provider: string, reason: string): ApiError {
  return upstreamExcessive(failedMessage(provider, reason), new ExcessiveResponse(reason))
}

/** 502: no connection to the provider could be made. */
export function upstreamUnreachable(provider: string, reason: string): ApiError {
  const cause = new ConnectionFailure(reason)
  return upstreamFailed('upstream_unavailable', failedMessage(provider, reason), undefined, cause)
}

/** 502: the provider's host accepted no connection in time. */
export function connectionTimedOut(provider: string): ApiError {
  const reason = 'the connection could not be established'
  const cause = new ConnectionFailure(reason)
  return upstreamFailed('upstream_timeout', timeoutMessage(provider, reason), undefined, cause)
}

/** 502: the provider has not responded, or has stopped responding. */
export function responseTimedOut(provider: string, reason: string): ApiError {
  return upstreamFailed('upstream_timeout', timeoutMessage(provider, reason))
}

/** 502: the provider has sent no token of its stream in time; `byCaller`: in the time that the caller has set. */
export function firstTokenTimedOut(provider: string, byCaller: boolean): ApiError {
  const message = timeoutMessage(provider, 'it sent no token in time')
  return upstreamFailed('upstream_timeout', message, undefined, byCaller ? new CallerTimeout() : undefined)
}

/** The reason why reading a response failed. */
export function readFailure(error: unknown): ProviderError {
  if (error instanceof TooLongError) return tooLarge
  if (error instanceof ExcessiveAnswerError) return error.error
  return codeOf(error) === 'ECONNRESET' ? connectionClosed : unreadable
}

/** The `code` of a system error. */
export function codeOf(error: unknown): string | undefined {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  return typeof code === 'string' ? code : undefined
}

/** The cause of an upstream error from before the request was sent: nothing in a request can provoke it. */
export class ConnectionFailure extends Error {
  override readonly name = 'ConnectionFailure'
}

/** The cause of an upstream error after which the provider may charge for what it has generated. */
export class CutResponse extends Error {
  override readonly name = 'CutResponse'
}

/**
 * The cause of an upstream error whose response is longer than the gateway accepts. The provider charges for it, and
 * would for each repetition: the request itself may cause it.
 */
class ExcessiveResponse extends Error {
  override readonly name = 'ExcessiveResponse'
}

/** Whether the provider has generated more than the gateway accepts. */
export function isExcessive(error: unknown): boolean {
  return error instanceof ApiError && error.cause instanceof ExcessiveResponse
}

/** The cause of a timeout that the caller has set, which says nothing about the route. */
export class CallerTimeout extends Error {
  override readonly name = 'CallerTimeout'
}

function failedMessage(provider: string, reason: string): string {
  return `The provider ${provider} failed: ${reason}.`
}

function timeoutMessage(provider: string, reason: string): string {
  return `The provider ${provider} timed out: ${reason}.`
}

/** In the gateway's words: those of the provider may name its hosts and accounts. */
function failureReason({ message, status, detected, fromStatusLine }: ProviderError): string {
  if (detected) return message
  if (status === undefined)
    return message === noReasonMessage
      ? 'its response has no content'
      : 'it reported an error in its response'
  return fromStatusLine ? `it returned status ${status}` : `it reported status ${status} in its response`
}

function rejectionCode(text: string): 'context_length_exceeded' | 'content_filter' | 'upstream_rejected' {
  if (aboutContext.test(text)) return 'context_length_exceeded'
  return aboutFilter.test(text) ? 'content_filter' : 'upstream_rejected'
}

/** Quoted text is often the caller's own: the name of a tool, of a field of its schema. */
function withoutQuotes(message: string): string {
  return message.replace(/(^|[\s(:])(['"`])[^'"`]{1,200}\2(?=$|[\s).,:;])/g, '$1…')
}

/** Matches only the beginning of the message: later text may quote the caller. */
function isKeyError(codes: string, message: string): boolean {
  return keyCode.test(codes) || keySentence.test(message)
}

// The phrases of the providers, as recorded and documented; each list ends where it would match other errors.
const keyCode = /\b(invalid_api_key|API_KEY_INVALID|authentication_error)\b/i
const keySentence =
  /^(the )?((incorrect|invalid|missing|no) api[ _]key|api[ _]key (is )?(not valid|invalid|expired|missing))/i
// Google's message for an exhausted quota equals OpenAI's, and means the rate: only codes are reliable.
const quotaCode =
  /insufficient_(quota|balance|credits?)|credit_balance|spend_limit|billing_(hard_limit|not_active)/i
const aboutModel = /model_not_found|model … does not exist/i
// Not in the path of a URL that does not exist.
const namesModel = /(?<!\/)(model|deployment)/i
const aboutContext = new RegExp(
  [
    'context.?(length|window|size|limit)',
    '(prompt|input|total length of all messages) is too long',
    'too[_ ]many[_ ]((input|prompt)[_ ])?tokens',
    '(input|prompt) token count',
    'input tokens exceeded',
    'number of (input|prompt) tokens exceeds',
    'maximum (prompt|model) length',
    'prompt exceeds max(imum)? length',
    "exceeds? the (model's )?max(imum)? .{0,20}tokens",
  ].join('|'),
  'i',
)
const aboutFilter = /content_filter|content_policy|content management policy|responsible ?ai/i

const maxLength = 1000

/**
 * A provider's message without what providers echo: the keys that they were sent in any form, other strings
 * that look like keys, organization ids, and the provider's host.
 */
export function scrub(message: string, host: string, keys: readonly string[] = []): string {
  let text = message
  for (const key of keys) text = text.replaceAll(key, '[key]')
  // Truncate after that: a key that the truncation cuts in two would not be recognised.
  text = text.slice(0, maxLength)
  for (const key of keys) text = withoutParts(text, key)
  if (host !== '') text = text.replaceAll(host, '[provider]')
  for (const [pattern, replacement] of secretPatterns) text = text.replace(pattern, replacement)
  return text
}

/** Characters. Providers repeat the beginning or the end of a key; fewer characters of it are no use to anyone. */
const minPart = 12

/** The text without the parts of the key, in any case. */
function withoutParts(text: string, key: string): string {
  const [lower, lowerKey] = [asciiLower(text), asciiLower(key)]
  const isPart = (end: number) => lowerKey.includes(lower.slice(end - minPart, end))
  let result = ''
  let start = 0
  for (let end = minPart; end <= text.length; end++) {
    if (end - minPart < start || !isPart(end)) continue
    result += `${text.slice(start, end - minPart)}[key]`
    while (end < text.length && isPart(end + 1)) end++
    start = end
  }
  return result + text.slice(start)
}

/** As long as the text, unlike `toLowerCase`. */
function asciiLower(text: string): string {
  return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase())
}

const secretPatterns: readonly (readonly [RegExp, string])[] = [
  [/(api key(?: provided)?: )[^\s"]+/gi, '$1[key]'],
  [/\b(?:sk|gsk|xai|pplx|fw|csk|hf|key)[-_][\w*.-]{6,}/g, '[key]'],
  [/\bAIza[\w-]{10,}/g, '[key]'],
  [/\borg[-_]\w+/g, '[organization]'],
  [/\bproj_\w+/g, '[project]'],
]
