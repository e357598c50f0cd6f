import { noReasonMessage, type ProviderError } from '../../domain/generation/events.ts'
import type { Generation } from '../../domain/generation/request.ts'
import type { ApiError } from '../../lib/errors/errors.ts'
import { parseJson } from '../../lib/json/json.ts'
import { readText } from '../../lib/read-text.ts'
import type { Protocol, Target } from '../../providers/protocols/protocol.ts'
import type { Provider } from '../../providers/provider.ts'
import { providerSentence } from './provider-sentence.ts'
import { scrub, toApiError } from './upstream-error.ts'
import { parseRetryAfter, secretsOf } from './upstream-request.ts'

type FailedRequest = {
  readonly provider: Provider
  readonly target: Target
  readonly generation: Generation
}

/** A longer error page is not read. */
const maxErrorBytes = 1024 * 1024

/** Reads the error that the provider has replied with. */
export async function readErrorResponse(
  response: Response,
  protocol: Protocol,
  request: FailedRequest,
): Promise<ApiError> {
  const text = await readText(response, maxErrorBytes).catch(() => '')
  const body = parseJson(text)
  const error = body === undefined ? { message: text || noReasonMessage } : protocol.parseError(body)
  const retryAfter = parseRetryAfter(response.headers) ?? error.retryAfter
  // The status line is the provider's own; a status inside the body is often a copy of another provider's.
  return providerFailure({ ...error, status: response.status, fromStatusLine: true, retryAfter }, request)
}

/** The error of the caller, with what the provider said for the operator. */
export function providerFailure(
  error: ProviderError,
  { provider, target, generation }: FailedRequest,
): ApiError {
  const [host, secrets] = [hostOf(provider), secretsOf(provider)]
  const failure = toApiError(error, provider.name, host, secrets)
  const isOwn = error.detected || error.message === noReasonMessage
  if (!isOwn)
    failure.providerMessage = providerSentence(scrub(error.message, host, secrets), target.model, generation)
  return failure
}

function hostOf(provider: Provider): string {
  return URL.parse(provider.baseUrl)?.host ?? ''
}
