import type { CallerLimits } from '../gateway/access/caller-limits.ts'
import type { Gateway } from '../gateway/gateway.ts'
import type { RequestObserver } from '../gateway/observer.ts'
import type { Admission } from '../gateway/rate-limits/admission.ts'
import { parseDuration } from '../config/units.ts'
import { badRequest } from '../lib/errors/errors.ts'
import { timeOf } from '../lib/id.ts'
import type { Json } from '../lib/json/json.ts'
import type { Organization } from '../domain/accounting/organization.ts'
import { type Api, type RequestMetadata, storedTrace } from '../domain/accounting/request-metadata.ts'
import { type AttributionLabels, attributionOf } from './attribution.ts'
import type { TraceContext } from './metadata.ts'

/** The context of a request: who sent it, its body for a content log, its admission, and a signal that the client has left. */
export type RequestContext = {
  readonly requestId: string
  readonly organization: Organization
  readonly keyId: string
  readonly project: { readonly id: string } | null
  readonly limits: CallerLimits
  readonly contentLog: boolean
  /** Absent where nothing is generated. */
  readonly body?: object
  readonly admission: Admission
  /** Observes the request and its call. */
  readonly record: RequestObserver
  /** The headers of the request. */
  readonly headers: Headers
  readonly signal: AbortSignal
  /** See `GenerateRequest`; absent where nothing can be sent before the response. */
  readonly onWaiting?: () => void
}

/** The properties of a request body that are recorded with its usage. */
export type RequestLabels = AttributionLabels & {
  readonly model?: string
  readonly stream?: boolean | null
  readonly performance_mode?: string | null
  readonly trace?: TraceContext | null
}

/** A valid request to an API that generates, before it is prepared. */
export type ReceivedRequest = {
  readonly api: Api
  readonly labels: RequestLabels
  readonly context: RequestContext
}

/** Characters: the log shows fewer, and a client may send any number. */
const maxRequestedModelLength = 1000

/**
 * The metadata of a request as its usage is recorded, with labels cut to the size that is stored. `model` is the slug of its
 * model, if there is one.
 */
export function requestMetadata(
  { api, labels, context }: ReceivedRequest,
  model: string | undefined,
  { userHash }: Pick<Gateway, 'userHash'>,
): RequestMetadata {
  const { user, session, tags } = attributionOf(labels, context.headers)
  return {
    id: context.requestId,
    organization: context.organization.id,
    key: context.keyId,
    project: context.project?.id,
    createdAt: timeOf(context.requestId),
    api,
    model,
    requestedModel: labels.model === model ? undefined : labels.model?.slice(0, maxRequestedModelLength),
    stream: labels.stream === true,
    performanceMode: performanceModeOf(labels),
    user: user && userHash ? userHash(user) : user,
    session,
    tags,
    // The body was parsed from JSON.
    trace: labels.trace == null ? undefined : storedTrace(labels.trace as Json),
    contentLog: context.contentLog || undefined,
  }
}

/** The schema of the Responses API does not have the property, so its value may be anything. */
function performanceModeOf({ performance_mode: mode }: RequestLabels): string | undefined {
  return mode === 'standard' || mode === 'fast' ? mode : undefined
}

const firstTokenHeader = 'x-weir-first-token-timeout'
/** In milliseconds. */
const firstTokenBounds = { min: 100, max: 600_000 }

/** The milliseconds of `x-weir-first-token-timeout`; undefined without it. Throws the 400 of a value out of its bounds. */
export function firstTokenTimeoutOf(headers: Headers): number | undefined {
  const text = headers.get(firstTokenHeader)
  if (text === null) return undefined
  const milliseconds = parseDuration(text.trim()) ?? 0
  if (milliseconds >= firstTokenBounds.min && milliseconds <= firstTokenBounds.max) return milliseconds
  const message = `Invalid '${firstTokenHeader}': must be a duration from 100ms to 10m, such as 5s.`
  throw badRequest(message, 'invalid_value', firstTokenHeader)
}
