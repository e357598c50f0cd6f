import type { Gateway } from '../gateway/gateway.ts'
import { timeOf } from '../lib/id.ts'
import type { Api } from '../domain/accounting/request-metadata.ts'
import type { FailedRequest } from './errors.ts'

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
