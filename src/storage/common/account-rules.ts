import { formatUsd, maxNanos, type Nanos } from '../../lib/usd.ts'
import { loggable } from '../../lib/text.ts'
import { type KeyRecord, OperatorError, type OrganizationAccount } from '../ports/accounts.ts'

/** Throws an error for the operator if an organization cannot have this name. */
export function assertOrganizationName(name: string): void {
  if (!/^[\p{L}\p{N}]([\p{L}\p{N} ._-]{0,62}[\p{L}\p{N}])?$/u.test(name))
    throw invalid(
      'The name of an organization must have 1 to 64 letters, digits, spaces, dots, dashes or underscores, and must ' +
        'begin and end with a letter or digit.',
    )
}

/** The error for a name that another organization has. */
export function organizationTaken(name: string): Error {
  return invalid(`The organization ${name} already exists.`)
}

/** The error for a name that no organization has. */
export function noOrganizationNamed(name: string): Error {
  return missing(`organization ${loggable(name)}`, 'organizations', 'orgs')
}

/** Returns the balance after a credit; throws an error for the operator if it is not possible. */
export function creditedBalance(account: OrganizationAccount, amount: Nanos): Nanos {
  const balance = account.balance + amount
  if (amount === 0n) throw invalid('The amount of a credit must not be zero.')
  if (amount < 0n && balance < account.reserved) throw invalid(balanceTooLow(account))
  if (balance > maxNanos) throw invalid(`The balance must be at most ${formatUsd(maxNanos)} USD.`)
  return balance
}

function balanceTooLow({ name, balance, reserved }: OrganizationAccount): string {
  const held = reserved > 0n ? `, of which ${formatUsd(reserved)} USD are reserved by open requests` : ''
  return `The balance of ${name} is ${formatUsd(balance)} USD${held}. No more than what is available can be subtracted.`
}

/** Throws an error for the operator if a project cannot have this name. */
export function assertProjectName(name: string): void {
  if (name.trim() !== name || name === '' || name.length > 128)
    throw invalid('The name of a project must have 1 to 128 characters, and no space at either end.')
}

/** The error for an id that no project has, or a deleted one, or one of another organization. */
export function noProjectWithId(id: string): Error {
  return missing(`project with the ID ${id}`, 'projects', 'projects')
}

/** The error for a key whose organization is deleted. */
export function noOrganizationOfKey(id: string): Error {
  return invalid(`The organization of the API key ${id} was deleted.`)
}

/** Throws an error for the operator if the budget of a key is part of another one's. */
export function assertOwnBudget({ id, parent }: KeyRecord): void {
  if (parent !== null)
    throw invalid(
      `The budget of the API key ${id} is part of that of ${parent}, which created it. Revoke it and create a new one.`,
    )
}

/** Returns the organization of a key that can be rotated; throws an error for the operator if it cannot. */
export function ownerOfActive(key: KeyRecord, now: number): string {
  if (key.organization === null) throw noOrganizationOfKey(key.id)
  assertOwnBudget(key)
  if (key.replacedBy !== null)
    throw invalid(`The API key ${key.id} was already rotated. The new API key is ${key.replacedBy}.`)
  if (key.revokedAt !== null) throw invalid(`The API key ${key.id} is revoked. Create a new one.`)
  if (key.expiresAt !== null && key.expiresAt <= now)
    throw invalid(`The API key ${key.id} has expired. Create a new one.`)
  return key.organization
}

/** Returns the time until which the replacement of a key works, in milliseconds: as long as the key did. */
export function renewedExpiry(key: KeyRecord, now: number): number | null {
  return key.expiresAt === null ? null : now + (key.expiresAt - key.createdAt)
}

/** The error for a change that is not valid. */
export function invalid(message: string): OperatorError {
  return new OperatorError('invalid', message)
}

/** The error for what does not exist, with the command that lists `all` that do. */
export function missing(what: string, all: string, command: string): OperatorError {
  return new OperatorError('missing', `There is no ${what}. To list all ${all}, run: weir ${command} list`)
}
