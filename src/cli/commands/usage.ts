import { durationOf } from '../../config/duration.ts'
import { type UsageGrouping, usageGroupings, type UsageQuestion } from '../../storage/ports/usage-report.ts'
import { type CliContext, type Command, commonFlagsHelp, parseFlags, UsageError } from '../args.ts'
import { jsonText } from '../output.ts'
import { type Storage, withStoredData } from '../storage.ts'
import { usageJson, usageTable } from '../usage-output.ts'
import { watch } from '../watch.ts'

const help = `Usage
  weir usage [--org NAME] [--by model|provider|org|key|tag|day|error] [--since 7d] [--watch]

Counts requests, tokens and costs. A request that failed is counted, with what it took: 4XX are
faults of requests, 5XX those of providers or the gateway, and FAILED are all, also those whose
caller left or whose stream broke. By tag, a request counts under each of its tags, and once in
the total. Days are those of UTC, whatever the time zone here. P50 and P95 are the times that
half and 95 of 100 of the requests stay within, those that failed left aside; FIRST is the time
to the first token of a stream. A cost of “-” is unknown (null in JSON): the model has no price.
The bars compare the requests. Columns that do not fit on the terminal are left out.

Flags
  --org NAME     of one organization; without it: of all
  --by WHAT      model, provider, org, key, tag, day or error; without it: model
  --since 7d     how far back; without it: 7d
  --watch        prints it again every 2 seconds until Ctrl-C, on a terminal or, with --json,
                 one JSON object a line

Works while a server runs, creates nothing and changes nothing.

Examples
  weir usage --by day --since 30d
  weir usage --org acme --by key --json

${commonFlagsHelp}`

/** `weir usage`. */
export const usage: Command = {
  name: 'usage',
  summary: 'what requests took: tokens and costs by model, key, tag and more',
  usage: help,
  async run(args, world) {
    const { flags } = parseFlags(args, {
      command: 'usage',
      flags: { org: 'text', by: 'text', since: 'text', watch: 'switch' },
    })
    const by = groupingOf(flags.by ?? 'model')
    const span = spanOf(flags.since ?? '7d')
    const question = () => ({ organization: flags.org, by, since: Date.now() - span })
    if (flags.watch && !flags.json && world.terminal === undefined)
      throw new UsageError('--watch needs a terminal, or --json. See weir usage --help.')
    return withStoredData(flags, world, async (storage) => {
      if (flags.watch && flags.json)
        await watch(async () => JSON.stringify(await jsonOf(storage, question())), world)
      else if (flags.watch) await watch(() => watchedText(storage, question(), world), world, world.terminal)
      else if (flags.json) world.out(jsonText(await jsonOf(storage, question())))
      else world.out(await tableOf(storage, question(), world))
      return 0
    })
  },
}

async function jsonOf(storage: Storage, question: UsageQuestion) {
  return usageJson(question, await storage.usage(question))
}

async function tableOf(storage: Storage, question: UsageQuestion, { terminal }: CliContext): Promise<string> {
  return usageTable(question.by, await storage.usage(question), terminal?.size().columns)
}

async function watchedText(storage: Storage, question: UsageQuestion, world: CliContext): Promise<string> {
  const now = new Date().toISOString().slice(0, 19).replace('T', ' ')
  const since = new Date(question.since).toISOString().slice(0, 16).replace('T', ' ')
  return `Since ${since}, now ${now} UTC. Ctrl-C ends.\n\n${await tableOf(storage, question, world)}`
}

function groupingOf(text: string): UsageGrouping {
  const grouping = usageGroupings.find((known) => known === text)
  if (grouping === undefined)
    throw new UsageError(`--by is one of ${usageGroupings.join(', ')}, not “${text}”. See weir usage --help.`)
  return grouping
}

function spanOf(text: string): number {
  const span = durationOf(text)
  // Beyond a hundred years a date would not fit its type.
  if (span === undefined || span > 36_500 * 86_400_000)
    throw new UsageError(
      `--since needs a duration such as 7d or 24h, but got “${text}”. See weir usage --help.`,
    )
  return span
}
