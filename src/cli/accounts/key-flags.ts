import { parseLifetime } from '../../http/expiry.ts'
import { type KeyPermission, keyPermissions } from '../../domain/accounting/organization.ts'
import { adminKeyPrefix, parseApiKey } from '../../domain/accounting/api-key.ts'
import { looksSecret, shortText } from '../../lib/text.ts'
import type { KeyChange } from '../../storage/ports/accounts.ts'
import type { FlagValues } from '../command.ts'
import { UsageError } from '../errors.ts'
import { invalidFlag, limitFlags, readChoice, readLimits, readList, readNames } from './limit-flags.ts'

/** The flags of the properties of a key, besides its organization. */
export const keyFlags = {
  name: 'text',
  project: 'text',
  expires: 'text',
  permissions: 'text',
  tags: 'text',
  note: 'text',
  'content-log': 'text',
  ...limitFlags,
} as const

/** Reads the flags of a key, but for its project; a property without a flag is undefined. Throws `UsageError`. */
export function readKeyFlags(flags: FlagValues<typeof keyFlags>, now: number): Omit<KeyChange, 'project'> {
  return {
    name: flags.name,
    expiresAt: readExpiry(flags.expires, 'keys', now),
    permissions: readPermissions(flags.permissions),
    tags: readTags(flags.tags),
    note: readNote(flags.note),
    contentLog: readContentLog(flags['content-log']),
    ...readLimits(flags, 'key'),
  }
}

/** Reads when a key expires: null for never, and undefined without the flag. Throws `UsageError`. */
export function readExpiry(
  text: string | undefined,
  command: string,
  now: number,
): number | null | undefined {
  if (text === undefined || text === 'never') return text && null
  const lifetime = parseLifetime(text)
  if (lifetime !== undefined) return now + lifetime
  throw invalidFlag(command, 'expires', 'a duration such as 90d or 24h, or never', text)
}

/** As in the API. */
const maxTags = 32
const maxTagLength = 128
const maxNoteLength = 1000

function readTags(text: string | undefined): readonly string[] | undefined {
  if (text === undefined) return undefined
  const rule = `at most ${maxTags} tags of at most ${maxTagLength} characters, such as ci,nightly`
  const tags = readList(text, 'keys', 'tags', rule)
  if (tags.length <= maxTags && tags.every((tag) => tag.length <= maxTagLength)) return tags
  throw invalidFlag('keys', 'tags', rule, shortText(text, maxTagLength))
}

function readNote(text: string | undefined): string | null | undefined {
  if (text === undefined || text === 'none') return text && null
  if (text.length <= maxNoteLength) return text
  throw invalidFlag(
    'keys',
    'note',
    `a text of at most ${maxNoteLength} characters`,
    shortText(text, maxTagLength),
  )
}

function readContentLog(text: string | undefined): boolean | undefined {
  const choice = readChoice(text, 'keys', 'content-log', ['on', 'off'], 'on or off')
  return choice && choice === 'on'
}

function readPermissions(text: string | undefined): readonly KeyPermission[] | undefined {
  if (text === undefined) return undefined
  const rule = `a list of ${keyPermissions.join(', ')}, or none`
  return readNames(text, 'keys', 'permissions', keyPermissions, rule)
}

/** Returns the id in an argument that is an id or a whole key. Throws `UsageError`, which never contains a secret. */
export function keyIdOf(argument: string): string {
  const [, idOfDamaged] = /^sk-weir-([0-9A-Za-z]{12})(-|$)/.exec(argument.trim()) ?? []
  const id = parseApiKey(argument.trim())?.publicId ?? idOfDamaged ?? plainId(argument)
  if (id !== undefined) return id
  if (argument.trim().startsWith(adminKeyPrefix))
    throw new UsageError(
      'ID must be the ID of an API key, not an admin key. For admin keys, use weir admin-keys.',
    )
  throw new UsageError(
    'ID must be the ID of an API key, or an API key of Weir. To list all API keys, run: weir keys list',
  )
}

/** Longer than any id. */
const maxIdLength = 64

/** Returns an argument that can be an id; undefined for a secret. */
export function plainId(argument: string): string | undefined {
  const isId = !looksSecret(argument) && argument.length <= maxIdLength
  return isId ? shortText(argument, maxIdLength) : undefined
}
