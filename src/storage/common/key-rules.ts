import type { KeyRecord } from '../ports/keys.ts'
import { OperatorError } from '../ports/operator-error.ts'

/** The error for an id that no key has. */
export function noKeyWithId(id: string): Error {
  return new OperatorError(
    'missing',
    `There is no API key with the ID ${id}. To list all API keys, run: weir keys list`,
  )
}

/** Returns the organization of a key that can be rotated; throws an error for the operator if it cannot. */
export function ownerOfActive(key: KeyRecord, now: number): string {
  if (key.organization === null)
    throw new OperatorError('invalid', `The organization of the API key ${key.id} was deleted.`)
  if (key.replacedBy !== null)
    throw new OperatorError(
      'invalid',
      `The API key ${key.id} was already rotated. The new API key is ${key.replacedBy}.`,
    )
  if (key.revokedAt !== null)
    throw new OperatorError('invalid', `The API key ${key.id} is revoked. Create a new one.`)
  if (key.expiresAt !== null && key.expiresAt <= now)
    throw new OperatorError('invalid', `The API key ${key.id} has expired. Create a new one.`)
  return key.organization
}

/** Returns the time until which the replacement of a key works, in milliseconds: as long as the key did. */
export function renewedExpiry(key: KeyRecord, now: number): number | null {
  return key.expiresAt === null ? null : now + (key.expiresAt - key.createdAt)
}
