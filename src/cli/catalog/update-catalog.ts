import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { catalogModels } from '../../config/catalog.ts'
import { type CatalogUpdate, catalogUpdateFile, readCatalogUpdate } from '../../config/catalog-update.ts'
import { fileErrorReason } from '../../config/file-problems.ts'
import { findDataFolder } from '../../config/paths.ts'
import { moveIntoPlace } from '../../lib/files.ts'
import { parseFlags } from '../command.ts'
import type { CliContext } from '../context.ts'
import { CommandError, UsageError } from '../errors.ts'
import { jsonText } from '../output.ts'
import { compareCatalogs, type ModelChange } from './compare-catalogs.ts'
import { loadSource } from './load-source.ts'
import { readCatalog } from './read-catalog.ts'
import { reportText, type UpdateReport } from './update-report.ts'

/** The part of the help of `weir models` about `update`. */
export const updateUsage = `weir models update compares the catalog with a list of models, shows the differences, and applies
them: new models, prices, sizes and the days on which models end. A price that is lower or more than
twice as high, and the removal of a model, wait until they are accepted. Prices and models of the
settings file stay as they are. The changes are stored in the data folder, beside the database.
The list is Weir's own ({"models": [{"slug": …, "pricing": {…}}]}), api.json of models.dev, the price
map of LiteLLM (known models only), or the list of models of OpenRouter (models named openrouter/…).

Flags of update
  --from FILE|URL  the list of models; a URL must use https
  --accept LIST    also apply what is held back of these models, or of all
  --dry-run        only show the differences
  --reset          remove all changes, and return to the built-in catalog`

/** `weir models update`. */
export async function updateCatalog(args: readonly string[], context: CliContext): Promise<number> {
  const { flags } = parseFlags(args, {
    command: 'models update',
    flags: { from: 'text', accept: 'list', 'dry-run': 'switch', reset: 'switch' },
  })
  const dataFolder = findDataFolder({ flags, ...context })
  if (flags.reset) {
    if (flags.from !== undefined) throw new UsageError('--reset and --from exclude each other.')
    rmSync(catalogUpdateFile(dataFolder), { force: true })
    context.out(flags.json ? jsonText({ reset: true }) : `The catalog is the built-in one. ${reloadHint}`)
    return 0
  }
  if (!flags.from)
    throw new UsageError('weir models update requires --from. For help, run: weir models --help')
  const report = await createReport(flags.from, { ...flags, dataFolder }, context)
  context.out(flags.json ? jsonText(report) : reportText(report, reloadHint))
  return 0
}

const reloadHint =
  'A running server reads it on SIGHUP: systemctl reload weir, or kill -HUP with its process ID.'

type UpdateOptions = {
  readonly accept?: string
  readonly 'dry-run'?: boolean
  readonly dataFolder: string
}

async function createReport(
  from: string,
  { accept, 'dry-run': dryRun = false, dataFolder }: UpdateOptions,
  { cwd }: CliContext,
): Promise<UpdateReport> {
  const update = readCatalogUpdate(dataFolder)
  const current = catalogModels(update)
  const { value, source } = await loadSource(from, cwd)
  const now = new Date()
  const today = now.toISOString().slice(0, 10)
  const read = readCatalog(value, current, today)
  const changes = compareCatalogs(current, read, now.getTime())
  const accepted = acceptedSlugs(accept, changes)
  const next = applyChanges(update, changes, accepted)
  const file = catalogUpdateFile(dataFolder)
  if (next !== undefined && !dryRun) writeUpdate(dataFolder, withSource(next, source, today))
  const listed = new Set(read.models.map(({ slug }) => slug))
  return {
    source,
    form: read.form,
    dry_run: dryRun,
    file: next === undefined || dryRun ? null : file,
    changes: changes.map(({ applied, accepted: all, ...change }) => ({
      ...change,
      applied: accepted.has(change.slug) || (change.held_back === null && applied === all),
    })),
    missing: current
      .filter(
        ({ slug, routes = [] }) =>
          !listed.has(slug) && routes.some(({ provider }) => read.complete.has(provider)),
      )
      .map(({ slug }) => slug)
      .filter((slug) => !read.ended.has(slug)),
    skipped: read.skipped,
  }
}

/** Throws `UsageError` for a name of which nothing is held back, which may be a mistake. */
function acceptedSlugs(accept: string | undefined, changes: readonly ModelChange[]): ReadonlySet<string> {
  const held = new Set(changes.flatMap(({ slug, held_back }) => (held_back === null ? [] : [slug])))
  const names = (accept ?? '').split(',').map((name) => name.trim())
  if (names.includes('all')) return held
  const unknown = names.filter((name) => name !== '' && !held.has(name))
  if (unknown.length > 0)
    throw new UsageError(`Nothing is held back of ${unknown.join(', ')}. To see what is, use --dry-run.`)
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

/** Replaces the file at once, so that a failure leaves the old one. Every account may read it: a server may have another. */
function writeUpdate(dataFolder: string, update: CatalogUpdate): void {
  const file = catalogUpdateFile(dataFolder)
  const part = `${file}.${process.pid}.part`
  try {
    mkdirSync(dataFolder, { recursive: true, mode: 0o700 })
    writeFileSync(part, `${JSON.stringify(update, null, 1)}\n`, { mode: 0o644 })
    moveIntoPlace(part, file)
  } catch (error) {
    rmSync(part, { force: true, recursive: true })
    throw new CommandError(
      `${file} cannot be written: ${fileErrorReason(error)}. The catalog has not changed.`,
    )
  }
}
