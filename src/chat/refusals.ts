import type { Gateway } from '../gateway/gateway.ts'
import type { FailedRequest } from '../http/errors.ts'
import { chatPath } from './path.ts'

/**
 * Enters a request that was let in and then refused for its body, of which the service never heard. One whose call was
 * opened is entered by whoever ends that, with what it cost; an entry that is there already stays as it is.
 */
export function enterRefused(gateway: Gateway, failed: FailedRequest): void {
  const { caller, admission, path, requestId: id, error } = failed
  if (caller === undefined || admission === undefined || admission.opened() || path !== chatPath) return
  const { organization, keyId: key } = caller
  const facts = { id, organization: organization.id, key, createdAt: Date.now(), api: 'chat' as const }
  void gateway.turnedAway({ ...facts, stream: false }, error)
}
