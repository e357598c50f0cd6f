import { type UsageGrouping, usageGroupings, type UsageQuery } from '../../storage/ports/usage.ts'
import { operatorReport } from '../../storage/usage/operator-report.ts'
import { findProject } from '../accounts/find-account.ts'
import { keyIdOf } from '../accounts/key-flags.ts'
import { readChoice } from '../accounts/limit-flags.ts'
import { type Command, commonFlagsHelp, type FlagValues } from '../command.ts'
import { UsageError } from '../errors.ts'
import type { CliContext, Terminal } from '../context.ts'
import { jsonText } from '../output.ts'
import { readPointInTime } from '../point-in-time.ts'
import type { AdminStorage } from '../../storage/open-database.ts'
import { storageCommand } from '../storage.ts'
import { usageCsv, usageJson, usageTable } from '../usage-output.ts'
import { wait } from '../../lib/time.ts'

const help = `Usage
  weir usage [--org NAME] [--by GROUPS] [--since 7d] [--until TIME] [filters] [--watch] [--csv]

Reports requests, tokens and costs, also while a server is running. It changes nothing.
Failed requests are included: 4XX are client errors, 5XX are errors of providers or of the gateway,
and FAILED is both, plus requests that the client aborted or whose stream broke. With --by tag, a
request counts once for each of its tags, and once in the total. Days are UTC days. P50 and P95 are
percentiles of the latency of successful requests, and FIRST P50 and FIRST P95 of the time to the
first token of streams, rounded down to two digits. A cost of “-” (null in JSON) is unknown,
because the model has no price. The bars compare the numbers of requests. Columns that do not fit on the
terminal are hidden.

Flags
  --org NAME     only this organization; default: all
  --by GROUPS    group by model, provider, org, project, key, user, session, tag, day or error, or by
                 several of them, separated by commas; default: model
  --since 7d     the start of the report: a duration before now, today, yesterday, a date such as
                 2026-11-22, or a time such as 2026-11-22T08:00Z; default: 7d
  --until TIME   the end of the report, in the same words; a date ends it at the beginning of that
                 day, and “today” with yesterday; default: now
  --project PROJECT, --key ID, --user USER, --session SESSION, --tag TAG, --model MODEL
                 only requests with one of these values, separated by commas; a project by its ID or,
                 with --org or in the organization “default”, its name
  --watch        refresh the report every 2 seconds until Ctrl-C; needs a terminal, or --json,
                 which prints one JSON object per line
  --csv          print CSV: a line for each group, with exact costs and without the total

Examples
  weir usage --by day --since 30d
  weir usage --by org,model --since yesterday --until today
  weir usage --org acme --by key --since 2026-11-22 --json
  weir usage --org acme --project search --by user
  weir usage --org acme --by user --since 2026-11-01 --csv > november.csv
  weir usage --watch

${commonFlagsHelp}`

/** `weir usage`. */
export const command: Command = {
  usage: help,
  run: (args, context) => report(args, context),
}

const filterFlags = {
  project: 'list',
  key: 'list',
  user: 'list',
  session: 'list',
  tag: 'list',
  model: 'list',
} as const
const reportFlags = {
  org: 'text',
  by: 'list',
  since: 'text',
  until: 'text',
  watch: 'switch',
  csv: 'switch',
  ...filterFlags,
} as const

const report = storageCommand('usage', { flags: reportFlags }, async ({ flags, context, open }) => {
  const by = parseGroupings(flags.by ?? 'model')
  const readQuery = () => ({ organization: flags.org, by, ...readRange(flags, Date.now()) })
  readQuery()
  if (flags.watch && !flags.json && context.terminal === undefined)
    throw new UsageError('--watch requires a terminal, or --json.', 'usage')
  if (flags.csv && (flags.json || flags.watch))
    throw new UsageError('--csv cannot be combined with --json or --watch.', 'usage')
  await open('read', async (storage) => {
    const filters = await readFilters(flags, storage)
    const query = () => ({ ...readQuery(), filters })
    if (flags.watch && flags.json)
      await watch(async () => JSON.stringify(await readUsageJson(storage, query())), context)
    else if (flags.watch) await watch(() => watchText(storage, query(), context), context, context.terminal)
    else if (flags.csv) context.out(usageCsv(by, await operatorReport(query(), storage)))
    else if (flags.json) context.out(jsonText(await readUsageJson(storage, query())))
    else context.out(await readUsageTable(storage, query(), context))
  })
})

async function readUsageJson(storage: AdminStorage, query: UsageQuery) {
  return usageJson(query, await operatorReport(query, storage))
}

async function readUsageTable(
  storage: AdminStorage,
  query: UsageQuery,
  { terminal }: CliContext,
): Promise<string> {
  return usageTable(query.by, await operatorReport(query, storage), terminal?.size().columns)
}

async function watchText(storage: AdminStorage, query: UsageQuery, context: CliContext): Promise<string> {
  const until = new Date(query.until ?? Date.now()).toISOString().slice(0, 19).replace('T', ' ')
  const since = new Date(query.since).toISOString().slice(0, 16).replace('T', ' ')
  return `From ${since} to ${until} UTC. Ctrl-C to stop.\n\n${await readUsageTable(storage, query, context)}`
}

function parseGroupings(text: string): readonly UsageGrouping[] {
  const rule = `one or several of ${usageGroupings.join(', ')}`
  const names = text.split(',').map((name) => name.trim())
  return [...new Set(names.flatMap((name) => readChoice(name, 'usage', 'by', usageGroupings, rule) ?? []))]
}

type FilterFlags = FlagValues<typeof filterFlags & { readonly org: 'text' }>

async function readFilters(flags: FilterFlags, storage: AdminStorage): Promise<UsageQuery['filters']> {
  const listOf = (text: string | undefined) => text?.split(',').map((value) => value.trim())
  const projects = listOf(flags.project)?.map((name) => findProject(storage, name, flags.org))
  return {
    projects: projects && (await Promise.all(projects)).map(({ id }) => id),
    keys: listOf(flags.key)?.map(keyIdOf),
    users: listOf(flags.user),
    sessions: listOf(flags.session),
    tags: listOf(flags.tag),
    models: listOf(flags.model),
  }
}

type RangeFlags = { readonly since?: string; readonly until?: string }

/** The range at this time; without `until` it ends then, and also includes what is recorded while it is read. */
function readRange(flags: RangeFlags, now: number): { readonly since: number; readonly until?: number } {
  const since = readPointInTime('usage', 'since', flags.since ?? '7d', now)
  const until = flags.until === undefined ? undefined : readPointInTime('usage', 'until', flags.until, now)
  if (since >= (until ?? now)) throw new UsageError('The report must start before it ends.', 'usage')
  return { since, ...(until !== undefined && until < now && { until }) }
}

/** Between the end of one refresh and the start of the next. */
const watchIntervalMs = 2000

/**
 * Prints the rendered text again and again until Ctrl-C or until standard output is closed; on a terminal in place of
 * the last one. `render` may depend on the current size of the terminal.
 */
async function watch(render: () => Promise<string>, context: CliContext, screen?: Terminal): Promise<void> {
  const interrupted = new AbortController()
  const interrupt = () => interrupted.abort()
  process.on('SIGINT', interrupt)
  process.on('SIGTERM', interrupt)
  const signals = [interrupted.signal, context.signal, context.outputClosed].filter(
    (signal) => signal !== undefined,
  )
  const stopped = AbortSignal.any(signals)
  screen?.write('\u001b[2J')
  try {
    while (!stopped.aborted) {
      const next = await render()
      if (screen === undefined) context.out(next)
      else screen.write(frame(next, screen))
      // It rejects only when the watch stops.
      await wait(watchIntervalMs, stopped).catch(() => {})
    }
  } finally {
    process.off('SIGINT', interrupt)
    process.off('SIGTERM', interrupt)
  }
}

/** Draws from the upper left corner; each line clears the rest of the last frame, and the screen does not scroll. */
function frame(text: string, screen: Terminal): string {
  const maxLines = Math.max(1, screen.size().rows - 1)
  const lines = text.split('\n')
  const visibleLines =
    lines.length <= maxLines
      ? lines
      : [...lines.slice(0, maxLines - 1), `… ${lines.length - maxLines + 1} more lines`]
  return `\u001b[H${visibleLines.map((line) => `${line}\u001b[K\n`).join('')}\u001b[J`
}
