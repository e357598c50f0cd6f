import type { Gateway } from '../gateway/gateway.ts'
import type { Models } from '../gateway/models/models.ts'
import { timeOf } from '../lib/id.ts'
import type { Api } from '../domain/accounting/request-metadata.ts'
import type { FailedRequest } from './errors.ts'
import { type RequestContext, type RequestLabels, requestMetadata } from './request-context.ts'

/** The paths of `POST` requests that generate, and the API of each. */
export type GenerationPaths = ReadonlyMap<string, Api>

/**
 * Records an admitted request that was rejected for its body, before it reached its service. A request that reached it is
 * recorded there, with its cost; an existing record is never overwritten.
 */
export function recordRejected(gateway: Gateway, paths: GenerationPaths, failed: FailedRequest): void {
  const { caller, admission, method, path, requestId: id, error } = failed
  // For Elysia, a path with a trailing slash is the same.
  const api = method === 'POST' ? paths.get(path.replace(/\/$/, '')) : undefined
  if (api === undefined || caller === undefined || admission === undefined || admission.isRecorded()) return
  const { organization, keyId: key } = caller
  const metadata = { id, organization: organization.id, key, createdAt: timeOf(id), api, stream: false }
  void gateway.recordRejected(metadata, error)
}

export type RejectionParts = {
  readonly gateway: Pick<Gateway, 'recordRejected'>
  readonly models: () => Models
}

/** Records a request whose body is valid, but that its service rejects before it calls the gateway. */
export function recordUnprepared(
  error: unknown,
  labels: RequestLabels,
  context: RequestContext,
  api: Api,
  { gateway, models }: RejectionParts,
): Promise<void> {
  const slug = labels.model === undefined ? undefined : models().find(labels.model)?.slug
  context.admission.markRecorded()
  return gateway.recordRejected(requestMetadata(labels, context, api, slug), error)
}
