import type { ManagedStores } from '../storage/ports/storage.ts'
import { invalidFlag } from './accounts/limit-flags.ts'
import type { FlagValues } from './command.ts'
import { UsageError } from './errors.ts'
import { readPointInTime } from './point-in-time.ts'

/** The flags of a list of what happened, by which a part of it is printed. */
export const pageFlags = { since: 'text', until: 'text', limit: 'text', after: 'text' } as const

/** Reads these flags; `id` says what the IDs of the list look like, and what they are. Throws `UsageError`. */
export function readPageFlags(
  command: string,
  flags: FlagValues<typeof pageFlags>,
  id: { readonly pattern: RegExp; readonly rule: string },
) {
  const { since, until, after } = flags
  if (after !== undefined && !id.pattern.test(after)) throw invalidFlag(command, 'after', id.rule, after)
  return {
    since: since === undefined ? undefined : readPointInTime(command, 'since', since),
    until: until === undefined ? undefined : readPointInTime(command, 'until', until),
    limit: readLimit(command, flags.limit),
    after,
  }
}

/** Reads the flag of the most items to list. Throws `UsageError`. */
export function readLimit(command: string, text = '50'): number {
  if (/^[1-9]\d{0,3}$/.test(text) && Number(text) <= 1000) return Number(text)
  throw invalidFlag(command, 'limit', 'a number from 1 to 1000', text)
}

/** Returns the id of the organization with this name or id, if one is named; throws `UsageError` if there is none. */
export async function readOrganization(
  { organizations }: Pick<ManagedStores, 'organizations'>,
  name: string | undefined,
): Promise<string | undefined> {
  if (name === undefined) return undefined
  const found = await organizations.find(name)
  if (found !== undefined) return found.id
  throw new UsageError(`There is no organization “${name}”. To list them, run: weir orgs list`)
}
