import { randomUUID } from 'node:crypto'
import { type ApiError, serviceUnavailable } from '../../lib/errors/errors.ts'

/** This process among those that use the database. */
export type ProcessIdentity = {
  /** The id under which it is registered, and which the store writes to what it owns. */
  id(): string
  /** Replaces the id, after the process was evicted; returns the new one, which has to be registered. */
  renew(): string
}

/** Creates an identity with a random id. */
export function createProcessIdentity(): ProcessIdentity {
  let id = randomUUID()
  return {
    id: () => id,
    renew: () => (id = randomUUID()),
  }
}

/** The 503 of a process that the others have evicted and that is not registered again yet. */
export function processRemoved(): ApiError {
  return serviceUnavailable('This gateway process was interrupted and is about to continue. Try again.')
}
