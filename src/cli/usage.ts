import { durationOf } from '../config/duration.ts'
import { type UsageGrouping, usageGroupings } from '../storage/usage-report.ts'
import { type Command, commonFlagsHelp, parseFlags, UsageError } from './command.ts'
import { jsonText } from './output.ts'
import { withStorage } from './storage.ts'
import { usageJson, usageTable } from './usage-output.ts'

const help = `Usage
  weir usage [--org NAME] [--by model|provider|org|key|tag|day] [--since 7d]

Counts requests, tokens and costs. A request that failed is counted, with what it took. By tag, a
request counts under each of its tags, and once in the total. Days are those of UTC.

Flags
  --org NAME     of one organization; without it: of all
  --by WHAT      model, provider, org, key, tag or day; without it: model
  --since 7d     how far back; without it: 7d

Works while a server runs.

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
      flags: { org: 'text', by: 'text', since: 'text' },
    })
    const by = groupingOf(flags.by ?? 'model')
    const since = Date.now() - spanOf(flags.since ?? '7d')
    const question = { organization: flags.org, by, since }
    const report = await withStorage(flags, world, (storage) => storage.usage(question))
    world.out(flags.json ? jsonText(usageJson(question, report)) : usageTable(by, report))
    return 0
  },
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
