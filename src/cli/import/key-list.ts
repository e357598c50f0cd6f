import { type Fields, fieldsOf, isObject, listOf, textOf } from '../../lib/json/json.ts'
import { isStorable, looksSecret, nameSet } from '../../lib/text.ts'
import type { AccountImport, ImportedKey } from '../../storage/ports/accounts.ts'
import { limitFields, readLimits } from './imported-limits.ts'
import { Notes, type NotImported, quoted } from './source.ts'

/** The projects and keys of the lists of LiteLLM. */
export type ImportedAccounts = Pick<AccountImport, 'projects' | 'keys'> & {
  readonly notImported: readonly NotImported[]
}

type Project = ImportedAccounts['projects'][number]

/** Returns the entries of a list of keys or teams, in any form that LiteLLM has; undefined if the value is not one. */
export function entriesOf(value: unknown, name: 'keys' | 'teams'): readonly unknown[] | undefined {
  const list = isObject(value) ? (value[name] ?? value.data) : value
  return Array.isArray(list) ? list : undefined
}

/** Reads keys and teams. Any value is accepted: what has no meaning is noted. `now` is in milliseconds since 1970. */
export function readAccounts(keyList: unknown, teamList: unknown, now: number): ImportedAccounts {
  const notes = new Notes()
  notePages(keyList, 'keys', notes)
  notePages(teamList, 'teams', notes)
  const teams = readTeams(entriesOf(teamList, 'teams') ?? [], notes)
  const keys = (entriesOf(keyList, 'keys') ?? []).flatMap(
    (entry, index) => readKey(entry, `keys[${index}]`, teams, notes, now) ?? [],
  )
  return { projects: [...teams.values()], keys, notImported: notes.list() }
}

function notePages(list: unknown, name: string, notes: Notes): void {
  const { total_pages: pages, current_page: page } = fieldsOf(list)
  if (typeof pages === 'number' && pages > 1)
    notes.add(name, `This is page ${page} of ${pages}: import the other pages too, or request a larger size.`)
}

/** Reads the teams, by their ids. */
function readTeams(entries: readonly unknown[], notes: Notes): Map<string, Project> {
  const teams = new Map<string, Project>()
  for (const [index, entry] of entries.entries()) {
    const path = `teams[${index}]`
    const fields = fieldsOf(entry)
    const id = textOf(fields.team_id)
    const name = projectName(fields.team_alias, id, teams)
    if (id === undefined || name === undefined)
      notes.add(path, 'It has no usable team_id, and was not imported.')
    else teams.set(id, { name, ...readLimits({ fields, path, notes }) })
    notes.addUnknown(withoutEmpties(fields), path, teamFields)
    noteSpend(fields, 'teams', notes)
  }
  return teams
}

const teamFields = nameSet(
  limitFields,
  'team_id team_alias spend total_spend model_spend created_at updated_at keys keys_count',
  'members admins members_with_roles team_memberships members_count',
)

/** Reads a key; undefined, with a note, for one that cannot be used any more. */
function readKey(
  entry: unknown,
  path: string,
  teams: Map<string, Project>,
  notes: Notes,
  now: number,
): ImportedKey | undefined {
  const reject = (reason: string): undefined => void notes.add(path, reason)
  if (!isObject(entry)) return reject('It is only a hash. Request the list with return_full_object=true.')
  const name = keyName(entry)
  const expiresAt = readTime(entry.expires)
  if (expiresAt === undefined) return reject(`${quoted(name)} has an expiry that is not a time.`)
  if (expiresAt !== null && expiresAt <= now) return reject(`${quoted(name)} has expired.`)
  const project = projectOf(entry, path, teams, notes)
  if (project === undefined) return reject(`${quoted(name)} has a team without a usable name.`)
  noteSpend(entry, 'keys', notes)
  const { tags, ...metadata } = fieldsOf(entry.metadata)
  notes.addUnknown(withoutEmpties({ ...entry, metadata }), path, keyFields, keyReasons)
  const user = textOf(entry.user_id)?.trim()
  return {
    name,
    project,
    expiresAt,
    tags: tagsOf(tags),
    ...(user && isStorable(user) && { note: `User of LiteLLM: ${user.slice(0, 500)}` }),
    ...readLimits({ fields: entry, path, notes }),
  }
}

/** The tags that a key of Weir can have. */
function tagsOf(tags: unknown): readonly string[] {
  const texts = listOf(tags).filter((tag) => typeof tag === 'string')
  return [...new Set(texts)].filter((tag) => tag !== '' && tag.length <= 128 && isStorable(tag)).slice(0, 32)
}

/** The name of a key; LiteLLM masks the key in `key_name`. */
function keyName({ key_alias: alias, key_name: masked }: Fields): string {
  const name = textOf(alias)?.trim()
  if (name && isStorable(name) && !looksSecret(name)) return name.slice(0, 256)
  const last4 = /^sk-\.\.\.([\w-]{4})$/.exec(textOf(masked) ?? '')?.[1]
  return last4 === undefined ? 'unnamed' : `key ending in ${last4}`
}

/** The project of a key's team: null without a team, and undefined for one without a usable name. */
function projectOf(
  entry: Fields,
  path: string,
  teams: Map<string, Project>,
  notes: Notes,
): string | null | undefined {
  const id = textOf(entry.team_id)
  if (!id) return null
  const known = teams.get(id)
  if (known !== undefined) return known.name
  const name = projectName(entry.team_alias, id, teams)
  if (name === undefined) return undefined
  const limits = readLimits({ fields: teamFieldsOf(entry), path: `${path}.team`, notes })
  teams.set(id, { name, ...limits })
  return name
}

/** The fields of the team in an entry of a key: LiteLLM joins both in some lists. */
function teamFieldsOf(entry: Fields): Fields {
  return {
    max_budget: entry.team_max_budget,
    rpm_limit: entry.team_rpm_limit,
    tpm_limit: entry.team_tpm_limit,
    models: entry.team_models,
    blocked: entry.team_blocked,
  }
}

/** The alias of a team, which LiteLLM does not keep unique, or its id; undefined if neither can be a name. */
function projectName(
  alias: unknown,
  id: string | undefined,
  teams: ReadonlyMap<string, Project>,
): string | undefined {
  const name = (textOf(alias)?.trim() || id?.trim())?.slice(0, 80).trim()
  if (!name || !isStorable(name)) return undefined
  const isTaken = [...teams.values()].some((team) => team.name === name)
  return isTaken ? `${name} (${id})`.slice(0, 128) : name
}

/** Reads a time of JSON or of PostgreSQL, which is UTC if it names no zone; null for none, and undefined for no time. */
function readTime(value: unknown): number | null | undefined {
  if (value === null || value === undefined || value === '') return null
  const [, date, time, zone = 'Z'] =
    /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d(?::\d\d(?:\.\d+)?)?)(Z|[+-]\d\d(?::?\d\d)?)?$/.exec(
      String(value).trim(),
    ) ?? []
  const hours = /^[+-]\d\d$/.test(zone) ? `${zone}:00` : zone
  const milliseconds = Date.parse(`${date}T${time}${hours}`)
  return Number.isNaN(milliseconds) ? undefined : milliseconds
}

function noteSpend({ spend }: Fields, path: string, notes: Notes): void {
  if (typeof spend === 'number' && spend > 0)
    notes.add(
      `${path}.spend`,
      'What was spent so far is not imported: the budget begins with its whole amount.',
    )
}

/** LiteLLM has empty lists and objects where nothing is set. */
function withoutEmpties(fields: Fields): Fields {
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => {
      if (value === false || value === 0 || value === '') return false
      return typeof value !== 'object' || value === null || Object.keys(value).length > 0
    }),
  )
}

const keyFields = nameSet(
  limitFields,
  'token key api_key key_name key_alias spend model_spend user_spend expires budget_id soft_budget_cooldown',
  'user_id user user_email user_role created_by created_by_user created_at updated_by updated_at last_active',
  'last_refreshed_at last_rotation_at rotation_count org_id via_default_team',
  'team_id team_alias team_max_budget team_rpm_limit team_tpm_limit team_models team_blocked team_spend',
  'team_metadata team_member team_member_spend',
)

const keyReasons: Readonly<Record<string, string>> = {
  metadata: 'Weir keeps no metadata of a key but its tags.',
  model_max_budget: 'A budget of Weir counts all models; create a key for each model that needs its own.',
  budget_limits: 'A key of Weir has one budget.',
  aliases: 'Aliases of models are in weir.yaml, for all keys.',
  organization_id: 'All keys are imported into one organization: --org.',
  project_id: 'A key of Weir has one project, that of the team.',
  soft_budget: 'Weir has no budget that only warns.',
  auto_rotate: 'Weir rotates keys only by weir keys rotate.',
}
