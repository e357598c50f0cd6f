import { chmodSync, existsSync, rmSync, writeFileSync } from 'node:fs'
import { catalogModels } from '../../config/catalog.ts'
import { type CatalogUpdate, catalogUpdateFile } from '../../config/catalog-update.ts'
import { fileErrorReason } from '../../config/file-problems.ts'
import { InvalidSettings, type LoadedSettings, loadSettings } from '../../config/load.ts'
import type { ModelDetails } from '../../config/model-details.ts'
import { findDataFolder, type SettingsInput } from '../../config/paths.ts'
import { problemLine } from '../../config/problem.ts'
import { locateProblems } from '../../config/read-settings-file.ts'
import { configurationProblems } from '../../gateway/configuration.ts'
import { moveIntoPlace } from '../../lib/files.ts'
import { subcommand } from '../command.ts'
import type { CliContext } from '../context.ts'
import { CommandError, UsageError } from '../errors.ts'
import { type DatabaseFlags, recordFileChange } from '../storage.ts'
import { compareCatalogs, type ModelChange } from './compare-catalogs.ts'
import { loadSource } from './load-source.ts'
import { type ReadCatalog, readCatalog } from './read-catalog.ts'
import { type ReportedChange, reportText, type UpdateReport } from './update-report.ts'

/** The part of the help of `weir models` about `update`. */
export const updateUsage = `weir models update compares the catalog with a list of models, shows the differences, and applies
them: new models, prices, sizes and the days on which models end. What may lower a charge waits until
it is accepted: a lower price or size limit, a new model that is free or without prices, or that may be
another name of a known one, and the removal of a model. So does a price that is more than twice as
high. Prices and models of the settings file stay as they are, and so do the routes, the parameters and
the fast mode of known models. The changes are stored in the data folder, beside the database.
The list is Weir's own ({"models": [{"slug": …, "pricing": {…}}]}), api.json of models.dev, the price
map of LiteLLM (known models only), or the list of models of OpenRouter (models named openrouter/…).

Flags of update
  --from FILE|URL  the list of models; a URL must use https, or http on this machine (localhost)
  --accept LIST    also apply what is held back of these models, or of all
  --dry-run        only show the differences
  --reset          remove all changes, and return to the built-in catalog`

const updateFlags = { from: 'text', accept: 'list', 'dry-run': 'switch', reset: 'switch' } as const

/** `weir models update`. */
export const updateCatalog = subcommand('models update', { flags: updateFlags }, async (call) => {
  const { flags, context, print } = call
  if (flags.reset) {
    if (flags.from !== undefined) throw new UsageError('--reset and --from exclude each other.')
    await resetCatalog(flags, context)
    return print({ reset: true }, `The catalog is the built-in one. ${reloadHint}`)
  }
  if (!flags.from) throw new UsageError('weir models update requires --from.', 'models')
  const loaded = loadValidPart({ flags, ...context })
  const report = await createReport(flags.from, { ...flags, loaded }, context)
  if (report.file !== null) await recordUpdate(report, flags, context)
  print(report, reportText(report, reloadHint))
})

async function resetCatalog(flags: DatabaseFlags, context: CliContext): Promise<void> {
  const file = catalogUpdateFile(findDataFolder({ flags, ...context }))
  const existed = existsSync(file)
  rmSync(file, { force: true })
  if (existed)
    await recordFileChange(
      { event: 'catalog.updated', before: { is_built_in: false }, after: { is_built_in: true } },
      flags,
      context,
    )
}

function recordUpdate({ source, changes }: UpdateReport, flags: DatabaseFlags, context: CliContext) {
  const models = changes.flatMap(({ slug, applied }) => (applied ? [slug] : []))
  return recordFileChange({ event: 'catalog.updated', before: {}, after: { source, models } }, flags, context)
}

const reloadHint =
  'A running server reads it on SIGHUP: systemctl reload weir, or kill -HUP with its process ID.'

type UpdateOptions = {
  readonly accept?: string
  readonly 'dry-run'?: boolean
  readonly loaded: KnownSettings
}

type KnownSettings = Pick<LoadedSettings, 'settings' | 'file' | 'dataFolder'>

/** The settings may be valid only with variables that just the service has. */
function loadValidPart(input: SettingsInput): KnownSettings {
  try {
    return loadSettings(input)
  } catch (error) {
    if (!(error instanceof InvalidSettings)) throw error
    return { settings: error.validPart, file: error.file, dataFolder: findDataFolder(input) }
  }
}

async function createReport(
  from: string,
  { accept, 'dry-run': dryRun = false, loaded }: UpdateOptions,
  { cwd, environment }: CliContext,
): Promise<UpdateReport> {
  const { settings, dataFolder } = loaded
  const update = settings.catalog
  const current = catalogModels(update)
  const { value, source } = await loadSource(from, cwd)
  const now = new Date()
  const today = now.toISOString().slice(0, 10)
  const read = readCatalog(value, current, today)
  const known = { current, settings: settings.models, removed: update?.ended ?? [] }
  const changes = compareCatalogs(read, known, now.getTime())
  const accepted = acceptedSlugs(accept, changes)
  const next = applyChanges(update, changes, accepted)
  const isWritten = next !== undefined && !dryRun
  if (isWritten) {
    assertSettingsStayValid(loaded, next, environment)
    writeUpdate(dataFolder, withSource(next, source, today))
  }
  return {
    source,
    form: read.form,
    dry_run: dryRun,
    file: isWritten ? catalogUpdateFile(dataFolder) : null,
    changes: changes.map((change) => reportedChange(change, accepted.has(change.slug))),
    missing: missingSlugs(current, read),
    skipped: read.skipped,
  }
}

function reportedChange({ applied, accepted, ...change }: ModelChange, isAccepted: boolean): ReportedChange {
  const patch = isAccepted ? accepted : applied
  const arePricesApplied = patch?.pricing !== undefined
  return {
    ...change,
    prices: change.prices.map((price) => ({ ...price, applied: arePricesApplied })),
    facts: change.facts.map((fact) => ({ ...fact, applied: patch?.[fact.fact] !== undefined })),
    applied: isAccepted || change.held_back === null,
  }
}

function missingSlugs(current: readonly ModelDetails[], { models, ended, complete }: ReadCatalog): string[] {
  const listed = new Set([...models.map(({ slug }) => slug), ...ended])
  return current
    .filter(
      ({ slug, routes = [] }) => !listed.has(slug) && routes.some(({ provider }) => complete.has(provider)),
    )
    .map(({ slug }) => slug)
}

/** Throws `UsageError` for a name of which nothing is held back, which may be a mistake. */
function acceptedSlugs(accept: string | undefined, changes: readonly ModelChange[]): ReadonlySet<string> {
  const held = new Set(changes.flatMap(({ slug, held_back }) => (held_back === null ? [] : [slug])))
  const names = (accept ?? '').split(',').map((name) => name.trim())
  if (names.includes('all')) return held
  const unknown = names.filter((name) => name !== '' && !held.has(name))
  if (unknown.length > 0)
    throw new UsageError(`No change of ${unknown.join(', ')} is held back. --dry-run lists those that are.`)
  return new Set(names.filter((name) => name !== ''))
}

/** Far more than all known models. */
const maxModels = 10_000

/** Returns the update with the changes that are accepted or need no consent; undefined if there are none. */
function applyChanges(
  update: CatalogUpdate | undefined,
  changes: readonly ModelChange[],
  accepted: ReadonlySet<string>,
): CatalogUpdate | undefined {
  const models = new Map((update?.models ?? []).map((model) => [model.slug, model]))
  const ended = new Set(update?.ended)
  let changed = 0
  for (const change of changes) {
    const { slug, kind } = change
    const patch = accepted.has(slug) ? change.accepted : change.applied
    const isEnd = kind === 'ended' && accepted.has(slug)
    if (patch === undefined && !isEnd) continue
    changed++
    if (isEnd) models.delete(slug)
    if (isEnd) ended.add(slug)
    else ended.delete(slug)
    if (patch !== undefined) models.set(slug, { ...models.get(slug), ...patch })
  }
  if (models.size > maxModels)
    throw new CommandError(`The catalog would have more than ${maxModels} changes.`)
  return changed === 0
    ? undefined
    : { sources: update?.sources ?? [], models: [...models.values()], ended: [...ended] }
}

/** Each source once, with its latest day, of the last ones. */
function withSource(update: CatalogUpdate, source: string, date: string): CatalogUpdate {
  const others = update.sources.filter((known) => known.source !== source)
  return { ...update, sources: [...others.slice(1 - maxSources), { source, date }] }
}

const maxSources = 8

/** Throws if the changes would keep a server from starting: the settings may name a model that they remove or add. */
function assertSettingsStayValid(
  { settings, file }: KnownSettings,
  next: CatalogUpdate,
  environment: CliContext['environment'],
): void {
  const problemsOf = (catalog: CatalogUpdate | undefined) =>
    locateProblems(configurationProblems({ ...settings, ...(catalog && { catalog }) }, environment), file)
  const known = new Set(problemsOf(settings.catalog).map(problemLine))
  const found = problemsOf(next)
    .map(problemLine)
    .filter((line) => !known.has(line))
  if (found.length === 0) return
  throw new CommandError(
    [
      `With these changes, ${file ?? 'the settings'} would not be valid. The catalog has not changed.`,
      ...found.slice(0, 10).map((line) => `  ${line}`),
    ].join('\n'),
  )
}

/** Replaces the file at once, so that a failure leaves the old one. Every account may read it: a server may have another. */
function writeUpdate(dataFolder: string, update: CatalogUpdate): void {
  const file = catalogUpdateFile(dataFolder)
  const part = `${file}.${process.pid}.part`
  // One that this account creates may be closed to the server.
  if (!existsSync(dataFolder))
    throw new CommandError(
      `The data folder ${dataFolder} does not exist. Create it as the account of the server, or name another one with --data.`,
    )
  try {
    writeFileSync(part, `${JSON.stringify(update, null, 1)}\n`, { flag: 'wx' })
    // Whatever the umask is.
    chmodSync(part, 0o644)
    moveIntoPlace(part, file)
  } catch (error) {
    rmSync(part, { force: true, recursive: true })
    throw new CommandError(
      `${file} cannot be written: ${fileErrorReason(error)}. The catalog has not changed.`,
    )
  }
}
