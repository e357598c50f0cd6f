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
  /** See `GenerateRequest`. */
  readonly fields?: readonly string[] | undefined
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
  { provider, target, generation, fields }: FailedRequest,
): ApiError {
  const [host, secrets] = [hostOf(provider), secretsOf(provider)]
  const failure = toApiError(error, provider.name, host, secrets)
  // Any other error is about the gateway's account or the provider.
  if (failure.status === 400) failure.param = fieldOf(error, fields)
  const isOwn = error.detected || error.message === noReasonMessage
  if (!isOwn)
    failure.providerMessage = providerSentence(scrub(error.message, host, secrets), target.model, generation)
  return failure
}

/**
 * The field that the provider blames, if the caller has sent one of this name. Without the path within it, which is that in
 * the request of the provider, and could be any text.
 */
function fieldOf({ param }: ProviderError, fields: readonly string[] = []): string | null {
  const [name = ''] = /^[a-z_]{1,64}(?=$|[.[])/.exec(param ?? '') ?? []
  return fields.includes(name) ? name : null
}

function hostOf(provider: Provider): string {
  return URL.parse(provider.baseUrl)?.host ?? ''
}
