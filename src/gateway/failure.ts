import type { Complaint } from '../generation/complaint.ts'
import { type ApiError, upstreamBroken, upstreamFailed, upstreamRejected } from '../lib/errors.ts'
import { scrubbed } from './scrub.ts'

/** The error that a caller gets for what the provider complained about. */
export function toApiError(complaint: Complaint, provider: string, host: string): ApiError {
  const { status = 502 } = complaint
  const words = `${complaint.code ?? ''} ${complaint.type ?? ''} ${complaint.message}`
  const refused = status === 400 || status === 413 || status === 422
  if (status === 401 || status === 403 || (refused && aboutKey.test(words))) {
    return upstreamBroken('provider_key_rejected', `The provider ${provider} rejected this gateway's key.`)
  }
  if (status === 402 || (status === 429 && aboutQuota.test(words))) {
    return upstreamBroken('provider_quota_exhausted', `The gateway's quota at ${provider} is used up.`)
  }
  if (status === 404 || (refused && aboutModel.test(words))) {
    return upstreamBroken('upstream_model_not_found', `The provider ${provider} does not have this model.`)
  }
  if (status === 429) {
    const message = `The provider ${provider} limits the rate of this gateway's requests.`
    return upstreamFailed('upstream_rate_limited', message, complaint.retryAfter)
  }
  if (!refused) return unavailable(provider, `it answered with status ${status}`, complaint.retryAfter)
  return upstreamRejected(scrubbed(complaint.message, host), rejectionOf(words))
}

/** 502: the provider cannot be reached, or answers with nothing that can be used. */
export function unavailable(provider: string, why: string, retryAfter?: number): ApiError {
  return upstreamFailed('upstream_unavailable', `The provider ${provider} failed: ${why}.`, retryAfter)
}

export function timedOut(provider: string, why: string): ApiError {
  return upstreamFailed('upstream_timeout', `The provider ${provider} took too long: ${why}.`)
}

function rejectionOf(words: string): 'context_length_exceeded' | 'content_filter' | 'upstream_rejected' {
  if (aboutContext.test(words)) return 'context_length_exceeded'
  return aboutFilter.test(words) ? 'content_filter' : 'upstream_rejected'
}

// The words of the providers, as recorded and documented; each list ends where it would catch other errors.
const aboutKey = /\bapi[ _]?key\b|API_KEY_INVALID/i
const aboutQuota =
  /insufficient_quota|exceeded your current quota|credit_balance|spend_limit|billing_hard_limit/i
const aboutModel = /model_not_found|model '[^']*' does not exist/i
const aboutContext =
  /context_length_exceeded|context.?(length|window|size)|prompt is too long|too many (input )?tokens|(input|prompt) token count|exceeds? the (model's )?max(imum)? .{0,20}tokens/i
const aboutFilter = /content_filter|content_policy|content management policy|responsible ?ai/i
