import type { Admission } from '../gateway/rate-limits/admission.ts'
import { timeOf } from '../lib/id.ts'
import type { Json } from '../lib/json/json.ts'
import type { Organization } from '../domain/accounting/organization.ts'
import {
  type Api,
  type RequestMetadata,
  storedTrace,
  storedUser,
} from '../domain/accounting/request-metadata.ts'
import type { TraceContext } from './schema.ts'

/** Who asks and what they may use, and how the answer ends when they leave. */
export type RequestContext = {
  readonly requestId: string
  readonly organization: Organization
  readonly keyId: string
  readonly admission: Admission
  readonly signal: AbortSignal
}

/** What a request says of itself beside its question. */
export type RequestLabels = {
  readonly model?: string
  readonly stream?: boolean | null
  readonly performance_mode?: string | null
  readonly user?: string | null
  readonly tags?: readonly string[] | null
  readonly trace?: TraceContext | null
}

/** Characters: the log shows fewer, and a caller may send any number. */
const maxRequestedModel = 1000

/** What the usage of a request says of it, no larger than it is to be stored. */
export function requestMetadata(
  labels: RequestLabels,
  asker: RequestContext,
  api: Api,
  model: string | undefined,
): RequestMetadata {
  return {
    id: asker.requestId,
    organization: asker.organization.id,
    key: asker.keyId,
    createdAt: timeOf(asker.requestId),
    api,
    model,
    requestedModel: labels.model === model ? undefined : labels.model?.slice(0, maxRequestedModel),
    stream: labels.stream === true,
    performanceMode: performanceModeOf(labels),
    user: labels.user == null ? undefined : storedUser(labels.user),
    tags: labels.tags ?? undefined,
    // It came as JSON.
    trace: labels.trace == null ? undefined : storedTrace(labels.trace as Json),
  }
}

/** The Responses API does not know the property: there, it may be anything. */
function performanceModeOf({ performance_mode: mode }: RequestLabels): string | undefined {
  return mode === 'standard' || mode === 'fast' ? mode : undefined
}
