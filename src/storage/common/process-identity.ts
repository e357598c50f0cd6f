import { randomUUID } from 'node:crypto'
import { type ApiError, serviceUnavailable } from '../../lib/errors/errors.ts'
import type { ProcessIdentity } from '../ports/shared-store.ts'

/** Creates an identity with a random id. */
export function createProcessIdentity(): ProcessIdentity {
  let id = randomUUID()
  return {
    id: () => id,
    renew: () => (id = randomUUID()),
  }
}

/** The 503 of a process that the others have removed and that has not entered again yet. */
export function processRemoved(): ApiError {
  return serviceUnavailable('This gateway process was interrupted and is about to continue. Try again.')
}
