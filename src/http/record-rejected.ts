import type { Gateway } from '../gateway/gateway.ts'
import { timeOf } from '../lib/id.ts'
import type { Api } from '../domain/accounting/request-metadata.ts'
import type { FailedRequest } from './errors.ts'

/** The paths at which models are asked, by `POST`, and the interface that each is. */
export type GenerationPaths = ReadonlyMap<string, Api>

/**
 * Enters a request that was let in and then refused for its body, of which its service never heard. One whose call was
 * opened is entered by whoever ends that, with what it cost; an entry that is there already stays as it is.
 */
export function recordRejected(gateway: Gateway, paths: GenerationPaths, failed: FailedRequest): void {
  const { caller, admission, method, path, requestId: id, error } = failed
  // Elysia takes a path with a slash behind it for the same.
  const api = method === 'POST' ? paths.get(path.replace(/\/$/, '')) : undefined
  if (api === undefined || caller === undefined || admission === undefined || admission.opened()) return
  const { organization, keyId: key } = caller
  const facts = { id, organization: organization.id, key, createdAt: timeOf(id), api }
  void gateway.recordRejected({ ...facts, stream: false }, error)
}
