import { parseDuration } from '../../config/units.ts'
import { type UsageGrouping, usageGroupings, type UsageQuery } from '../../storage/ports/usage-report.ts'
import type { Command } from '../command.ts'
import { commonFlagsHelp, parseFlags } from '../args.ts'
import { UsageError } from '../errors.ts'
import type { CliContext } from '../context.ts'
import { jsonText } from '../output.ts'
import { type AdminStorage, withReadableStorage } from '../storage.ts'
import { usageJson, usageTable } from '../usage-output.ts'
import { watch } from '../watch.ts'

const help = `Usage
  weir usage [--org NAME] [--by model|provider|org|key|tag|day|error] [--since 7d] [--watch]

Reports requests, tokens and costs. Failed requests are included: 4XX are client errors, 5XX are
errors of providers or of the gateway, and FAILED counts both and also requests that the client
aborted or whose stream broke. By tag, a request counts under each of its tags, and once in the
total. Days are UTC days. P50 and P95 are percentiles of the latency of successful requests;
FIRST is the time to the first token of a stream. A cost of “-” is unknown (null in JSON): the
model has no price. The bars compare the numbers of requests. Columns that do not fit on the
terminal are dropped.

Flags
  --org NAME     only this organization; default: all
  --by WHAT      model, provider, org, key, tag, day or error; default: model
  --since 7d     the length of the period; default: 7d
  --watch        refreshes the report every 2 seconds until Ctrl-C, on a terminal or, with
                 --json, as one JSON object a line

Works while a server is running. Reads only.

Examples
  weir usage --by day --since 30d
  weir usage --org acme --by key --json

${commonFlagsHelp}`

/** `weir usage`. */
export const usage: Command = {
  name: 'usage',
  summary: 'report requests, tokens and costs by model, key, tag and more',
  usage: help,
  async run(args, context) {
    const { flags } = parseFlags(args, {
      command: 'usage',
      flags: { org: 'text', by: 'text', since: 'text', watch: 'switch' },
    })
    const by = parseGrouping(flags.by ?? 'model')
    const spanMs = parseSpan(flags.since ?? '7d')
    const query = () => ({ organization: flags.org, by, since: Date.now() - spanMs })
    if (flags.watch && !flags.json && context.terminal === undefined)
      throw new UsageError('--watch needs a terminal, or --json. See weir usage --help.')
    return withReadableStorage(flags, context, async (storage) => {
      if (flags.watch && flags.json)
        await watch(async () => JSON.stringify(await readUsageJson(storage, query())), context)
      else if (flags.watch) await watch(() => watchText(storage, query(), context), context, context.terminal)
      else if (flags.json) context.out(jsonText(await readUsageJson(storage, query())))
      else context.out(await readUsageTable(storage, query(), context))
      return 0
    })
  },
}

async function readUsageJson(storage: AdminStorage, query: UsageQuery) {
  return usageJson(query, await storage.usage(query))
}

async function readUsageTable(
  storage: AdminStorage,
  query: UsageQuery,
  { terminal }: CliContext,
): Promise<string> {
  return usageTable(query.by, await storage.usage(query), terminal?.size().columns)
}

async function watchText(storage: AdminStorage, query: UsageQuery, context: CliContext): Promise<string> {
  const now = new Date().toISOString().slice(0, 19).replace('T', ' ')
  const since = new Date(query.since).toISOString().slice(0, 16).replace('T', ' ')
  return `Since ${since}, now ${now} UTC. Ctrl-C stops.\n\n${await readUsageTable(storage, query, context)}`
}

function parseGrouping(text: string): UsageGrouping {
  const grouping = usageGroupings.find((candidate) => candidate === text)
  if (grouping === undefined)
    throw new UsageError(`--by is one of ${usageGroupings.join(', ')}, not “${text}”. See weir usage --help.`)
  return grouping
}

function parseSpan(text: string): number {
  const spanMs = parseDuration(text)
  // A hundred years; a date much later would overflow.
  if (spanMs === undefined || spanMs > 36_500 * 86_400_000)
    throw new UsageError(
      `--since needs a duration such as 7d or 24h, but got “${text}”. See weir usage --help.`,
    )
  return spanMs
}
