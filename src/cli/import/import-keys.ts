import { resolve } from 'node:path'
import { type AllowanceChange, noLimits } from '../../domain/accounting/allowance.ts'
import { defaultOrganization } from '../../storage/bootstrap-key.ts'
import { renderLimits } from '../../http/render-limits.ts'
import { csvLine } from '../../lib/csv.ts'
import { isoTimeOrNull } from '../../lib/time.ts'
import type { AccountImport, ImportedKey, NewKey } from '../../storage/ports/accounts.ts'
import type { ManagedStores } from '../../storage/ports/storage.ts'
import { findOrganization, listKeys } from '../accounts/find-account.ts'
import { limitCell, modelsCell, newBudgetCell, timeCell } from '../accounts/limits-output.ts'
import type { CliContext } from '../context.ts'
import { CommandError } from '../errors.ts'
import { type Column, fittingTable, jsonText, rightColumn } from '../output.ts'
import { shellWord } from '../quote.ts'
import { type DatabaseFlags, withDatabase } from '../storage.ts'
import { entriesOf, type ImportedAccounts, readAccounts } from './key-list.ts'
import { countText, readJsonFile, reportNotes } from './source.ts'

/** The flags of the import of keys. */
type KeyImportFlags = DatabaseFlags & {
  readonly keys: string
  readonly teams?: string
  readonly org?: string
  readonly apply?: boolean
}

/** Imports the keys and teams of LiteLLM; changes nothing without `--apply`. Returns the exit code. */
export async function importKeys(flags: KeyImportFlags, context: CliContext): Promise<number> {
  const keyList = readList(resolve(context.cwd, flags.keys), 'keys')
  const teamList = flags.teams === undefined ? [] : readList(resolve(context.cwd, flags.teams), 'teams')
  const accounts = readAccounts(keyList, teamList, Date.now())
  const organization = flags.org ?? defaultOrganization
  if (!flags.apply) {
    const plan = await withDatabase('read', flags, context, (storage) =>
      planOf(storage, organization, accounts),
    )
    printPlan(plan, flags.json, context)
    return 0
  }
  const { plan, created } = await withDatabase('write', flags, context, async (storage) => {
    const plan = await planOf(storage, organization, accounts)
    return { plan, created: await storage.importAccounts(plan) }
  })
  printCreated(plan, created, flags.json, context)
  return 0
}

/** A larger transaction would delay the requests of a running server. */
const maxKeys = 5000

function readList(file: string, name: 'keys' | 'teams'): unknown {
  const list = readJsonFile(file)
  const entries = entriesOf(list, name)
  if (entries === undefined) throw new CommandError(`${file} is not a list of ${name} of LiteLLM.`)
  if (entries.length <= maxKeys) return list
  throw new CommandError(`${file} has more than ${maxKeys.toLocaleString('en-US')} ${name}; divide the list.`)
}

/** The objects that an import creates, and those of them that exist already. */
type Plan = AccountImport & {
  readonly existing: Pick<AccountImport, 'projects' | 'keys'>
  readonly notImported: ImportedAccounts['notImported']
}

async function planOf(
  storage: ManagedStores,
  organization: string,
  { projects, keys, notImported }: ImportedAccounts,
): Promise<Plan> {
  const { id, name } = await findOrganization(storage, organization)
  const projectNames = new Set((await storage.projects.list(name)).map((project) => project.name))
  const active = (await listKeys(storage, { organizationId: id })).filter(
    ({ revokedAt }) => revokedAt === null,
  )
  const keyNames = new Set(active.map((key) => nameInProject(key.name, key.project?.name ?? null)))
  const exists = (key: ImportedKey) => keyNames.has(nameInProject(key.name, key.project))
  const isKnown = ({ name }: Plan['projects'][number]) => projectNames.has(name)
  return {
    organization: name,
    projects: projects.filter((project) => !isKnown(project)),
    keys: keys.filter((key) => !exists(key)),
    existing: { projects: projects.filter(isKnown), keys: keys.filter(exists) },
    notImported,
  }
}

function nameInProject(name: string, project: string | null): string {
  return JSON.stringify([name, project])
}

function printPlan(plan: Plan, json: boolean | undefined, context: CliContext): void {
  if (json) return context.out(jsonText(planJson(plan, false, plan.keys.map(keyJson))))
  const width = context.terminal?.size().columns
  const tables = [
    ...(plan.projects.length > 0
      ? [fittingTable(plan.projects, [projectColumn, ...limitColumns], width)]
      : []),
    ...(plan.keys.length > 0 ? [fittingTable(plan.keys, [...keyColumns, ...limitColumns], width)] : []),
  ]
  context.out(tables.join('\n\n') || 'There is nothing to import.')
  reportNotes(plan.notImported, context)
  context.err(`${summaryText('would be', plan)} Nothing was changed; to create them, add --apply.`)
}

const projectColumn: Column<Plan['projects'][number]> = { title: 'PROJECT', value: ({ name }) => name }

const keyColumns: readonly Column<ImportedKey>[] = [
  { title: 'API KEY', value: ({ name }) => name },
  { title: 'OF PROJECT', value: ({ project }) => project ?? '-' },
  {
    title: 'EXPIRES',
    value: ({ expiresAt }) => (expiresAt === null ? 'never' : timeCell(expiresAt)),
    dropOrder: 2,
  },
]

const limitColumns: readonly Column<AllowanceChange>[] = [
  { title: 'BUDGET USD', value: newBudgetCell },
  rightColumn('REQUESTS/MIN', ({ requestsPerMinute = null }) => limitCell(requestsPerMinute, '-'), 1),
  rightColumn('TOKENS/MIN', ({ tokensPerMinute = null }) => limitCell(tokensPerMinute, '-'), 1),
  rightColumn('CONCURRENT', ({ concurrentRequests = null }) => limitCell(concurrentRequests, '-'), 1),
  { title: 'MODELS', value: (limits) => modelsCell({ ...noLimits, ...limits }) },
  { title: 'STATE', value: ({ enabled = true }) => (enabled ? 'active' : 'disabled') },
]

function printCreated(
  plan: Plan,
  created: readonly NewKey[],
  json: boolean | undefined,
  context: CliContext,
): void {
  if (json) {
    const keys = plan.keys.map((key, index) => ({
      ...keyJson(key),
      id: created[index]?.record.id,
      key: created[index]?.key.reveal(),
    }))
    return context.out(jsonText(planJson(plan, true, keys)))
  }
  const rows = created.map(({ record, key }) => [
    record.name,
    record.project?.name ?? '',
    record.id,
    key.reveal(),
  ])
  context.out([['name', 'project', 'id', 'key'], ...rows].map(csvLine).join('\n'))
  reportNotes(plan.notImported, context)
  const once = created.length > 0 ? ` ${shownOnce}` : ''
  // If the output of an earlier import was lost, so were the secrets of its keys.
  const lost = plan.existing.keys.length > 0 ? ` ${rotateText(plan.organization)}` : ''
  context.err(`${summaryText('were', plan)}${lost}${once}`)
}

function rotateText(organization: string): string {
  return (
    'Secrets of existing API keys are not shown again: if one was lost, weir keys rotate ID creates a new one, and ' +
    `weir keys list --org ${shellWord(organization)} has the IDs.`
  )
}

const shownOnce =
  'The API keys are shown only once: give each client its own, because LiteLLM has only the hashes of the old ones.'

function planJson(plan: Plan, applied: boolean, keys: readonly object[]) {
  const { organization, projects, existing, notImported } = plan
  return {
    organization,
    applied,
    projects: projects.map(({ name, ...limits }) => ({ name, ...limitsJson(limits) })),
    keys,
    existing: {
      projects: existing.projects.map(({ name }) => ({ name })),
      keys: existing.keys.map(({ name, project }) => ({ name, project })),
    },
    not_imported: notImported,
  }
}

function keyJson({ name, project, expiresAt, tags = [], note = null, ...limits }: ImportedKey) {
  return { name, project, ...limitsJson(limits), expires_at: isoTimeOrNull(expiresAt), tags, note }
}

function limitsJson(limits: AllowanceChange) {
  const { budget: _, ...rendered } = renderLimits({ ...noLimits, ...limits }, undefined)
  return rendered
}

function summaryText(verb: string, { organization, projects, keys, existing }: Plan): string {
  const created = `${countText(projects.length, 'project')} and ${countText(keys.length, 'API key')}`
  const known = `${countText(existing.projects.length, 'project')} and ${countText(existing.keys.length, 'API key')}`
  const skipped =
    existing.projects.length + existing.keys.length === 0
      ? ''
      : ` ${known} exist already and stay as they are.`
  return `${created} ${verb} created in the organization ${organization}.${skipped}`
}
