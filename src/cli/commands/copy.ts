import { basename, dirname, join, resolve } from 'node:path'
import { formatUsd } from '../../lib/usd.ts'
import { copyDatabase, type CopyProgress, type CopyResult } from '../../storage/copy/copy-database.ts'
import { hasRunningServers, openCopySource, openCopyTarget } from '../../storage/copy/copy-endpoints.ts'
import type { CopySource, CopyTarget } from '../../storage/ports/copy.ts'
import { type Command, commonFlagsHelp, subcommand } from '../command.ts'
import type { CliContext } from '../context.ts'
import { CommandError, UsageError } from '../errors.ts'
import { logTo } from '../log.ts'
import { createProgress, progressBar, table } from '../output.ts'
import { configuredDatabase, type DatabaseFlags } from '../storage.ts'
import { parseDatabaseUrl } from '../../config/load.ts'
import type { DatabaseLocation } from '../../storage/database-location.ts'
import { databaseName } from '../../storage/database-location.ts'

const usage = `Usage
  weir copy --to URL|DIR [--from URL|DIR]

Copies all data to another database: from the SQLite file to PostgreSQL, or back. API keys, ids,
balances, usage and everything that is stored are the same afterwards. Stop the servers first. The
target must be empty, and the source does not change. If a copy is interrupted, no server can use
the target; run the command again, and it starts over. At the end, the number of rows, the sums of the
balances, and each balance and its ledger are compared. Then change the setting of the database, and
start weir serve.

Flags
  --to DATABASE    the empty target: the URL of a PostgreSQL database, or a folder for a SQLite file;
                   default: WEIR_COPY_TO, else the configured database
  --from DATABASE  the source; default: WEIR_COPY_FROM, else the configured database

Other users of the machine can read the flags of a running command: to hide a password, set the
variable instead of the flag.

Examples
  weir copy --to postgres://weir@db.example.com/weir
  WEIR_COPY_TO=postgres://weir:PASSWORD@db.example.com/weir weir copy
  weir copy --from postgres://weir@db.example.com/weir --to ./data

${commonFlagsHelp}`

/** `weir copy`. */
export const command: Command = {
  usage,
  run: subcommand('copy', { flags: { from: 'text', to: 'text' } }, async ({ flags, context, print }) => {
    const started = performance.now()
    const copied = await copyBetween(findCopyEnds(flags, context), flags.json, context)
    const seconds = Math.round(performance.now() - started) / 1000
    print(toJson(copied, seconds), report(copied, seconds))
  }),
}

type Copied = { readonly from: string; readonly to: string; readonly result: CopyResult }

async function copyBetween(ends: CopyEnds, json: boolean | undefined, context: CliContext): Promise<Copied> {
  const log = logTo(context, json)
  const source = await openCopySource(ends.from)
  try {
    const target = await openCopyTarget(ends.to, log)
    try {
      const result = await copyWithProgress(source, target, json, context)
      return { from: source.label, to: target.label, result }
    } finally {
      await target.close()
    }
  } finally {
    await source.close()
  }
}

async function copyWithProgress(
  source: CopySource,
  target: CopyTarget,
  json: boolean | undefined,
  context: CliContext,
): Promise<CopyResult> {
  const progress = createProgress(context, json)
  progress.show(() => `Checking that no server uses ${source.label}.`)
  try {
    await assertUnused(source)
    progress.show(() => `Counting the rows of ${source.label}.`)
    return await copyDatabase(source, target, (state) => progress.show(() => progressText(state)))
  } finally {
    progress.end()
  }
}

/** Rows that a server stores during the copy would be missing in it. */
async function assertUnused(source: CopySource): Promise<void> {
  if (await hasRunningServers(source))
    throw new CommandError(
      `The database ${source.label} is in use by a weir server. Stop all servers that use it, because what they ` +
        'store during the copy would be missing in it.',
    )
}

function progressText({ table, copied, total }: CopyProgress): string {
  const share = total === 0 ? 1 : Math.min(1, copied / total)
  return `Copying  ${progressBar(share)}  ${Math.floor(share * 100)} % of ${total} rows, ${labelOf(table)}`
}

function report({ from, to, result }: Copied, seconds: number): string {
  const rows = table(Object.entries(result.rows), [
    { title: 'Data', value: ([name]) => labelOf(name) },
    { title: 'Rows', value: ([, count]) => String(count), align: 'right' },
  ])
  const { balance, reserved } = result.sums
  const { replaced } = result
  const note = `In ${replaced} ${replaced === 1 ? 'text' : 'texts'}, characters that cannot be stored were replaced by U+FFFD.`
  return [
    `Copied ${from} to ${to} in ${seconds.toFixed(1)} s.`,
    '',
    rows,
    '',
    `Balances: ${formatUsd(balance)} USD, of which ${formatUsd(reserved)} USD is reserved.`,
    'Verified: the number of rows of every table, the sums of balances and ledger, and each balance are equal.',
    ...(replaced > 0 ? [note] : []),
    ...result.unbalanced.slice(0, maxUnbalanced).map(unbalancedText),
    ...(result.unbalanced.length > maxUnbalanced
      ? ['The same is true of more organizations: see --json.']
      : []),
    'To use the copy, change the database in weir.yaml or WEIR_DATABASE, and start weir serve.',
  ].join('\n')
}

/** The organizations that the report lists. */
const maxUnbalanced = 10

function unbalancedText({ name, balance, ledger }: CopyResult['unbalanced'][number]): string {
  return (
    `The balance of ${name} is ${formatUsd(balance)} USD, but its ledger adds up to ${formatUsd(ledger)} USD. ` +
    'It was so before, and was copied as it is.'
  )
}

function labelOf(table: string): string {
  return table.replaceAll('_', ' ')
}

function toJson({ from, to, result }: Copied, seconds: number) {
  const { balance, reserved, ledger } = result.sums
  return {
    from,
    to,
    rows: result.rows,
    balance: formatUsd(balance),
    reserved: formatUsd(reserved),
    ledger: formatUsd(ledger),
    replaced_texts: result.replaced,
    unbalanced: result.unbalanced.map(({ name, balance, ledger }) => ({
      organization: name,
      balance: formatUsd(balance),
      ledger: formatUsd(ledger),
    })),
    seconds,
  }
}

type Flags = DatabaseFlags & { readonly from?: string; readonly to?: string }

/** Where `weir copy` copies from and to; the one that is not named is the configured database. */
type CopyEnds = { readonly from: DatabaseLocation; readonly to: DatabaseLocation }

/** Finds both databases; throws `UsageError` if neither is named. */
function findCopyEnds(flags: Flags, context: CliContext): CopyEnds {
  const [from, to] = [namedDatabase('from', flags, context), namedDatabase('to', flags, context)]
  if (from === undefined && to === undefined)
    throw new UsageError('weir copy requires --to or --from.', 'copy')
  const ends = {
    from: from ?? configuredDatabase(flags, context),
    to: to ?? configuredDatabase(flags, context),
  }
  if (typeof ends.from === 'string' && typeof ends.to === 'string')
    throw new CommandError(
      'Both databases are SQLite files. Copy one with weir backup, or name a PostgreSQL database with --to or --from.',
    )
  return ends
}

/** The value of the flag, or of the variable, which other users of the machine cannot read. */
function namedDatabase(
  end: 'from' | 'to',
  flags: Flags,
  { environment, cwd }: CliContext,
): DatabaseLocation | undefined {
  const variable = `WEIR_COPY_${end.toUpperCase()}`
  const value = flags[end] ?? (environment[variable] || undefined)
  if (value === undefined) return undefined
  if (value.includes('://')) return parseDatabaseUrl(value, flags[end] === undefined ? variable : `--${end}`)
  const path = resolve(cwd, value)
  return join(basename(path) === databaseName ? dirname(path) : path, databaseName)
}
