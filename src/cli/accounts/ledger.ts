import { entryIdPattern, ledgerCsv, renderEntry } from '../../http/render-ledger.ts'
import { formatUsd } from '../../lib/usd.ts'
import type { AdminStorage } from '../../storage/open-database.ts'
import {
  entryKinds,
  type LedgerEntry,
  type LedgerQuery,
  type LedgerSum,
} from '../../storage/ports/ledger-entries.ts'
import type { FlagValues } from '../command.ts'
import type { CliContext } from '../context.ts'
import { UsageError } from '../errors.ts'
import { pageFlags, readPageFlags } from '../list-flags.ts'
import { type Column, jsonText, listText, rightColumn, timeText } from '../output.ts'
import { storageCommand } from '../storage.ts'
import { findOrganization } from './find-account.ts'
import { readChoice } from './limit-flags.ts'

/** The lines of the help of `weir orgs` about the flags of its ledger. */
export const ledgerFlagsHelp = `Flags of ledger
  --kind KIND                    only credits (credit), or only the charges of requests (charge)
  --since 7d, --until TIME       only entries since then, or before then: a duration before now, today,
                                 yesterday, a date such as 2026-11-22, or a time such as 2026-11-22T08:00Z
  --limit N                      the most entries to list, the newest first, up to 1000; default: 50, and
                                 with --csv all
  --after ID                     continue after this entry of an earlier list
  --sum                          also add up all entries of the ledger, which are the balance
  --csv                          print CSV, with exact amounts`

const flagTypes = { kind: 'text', ...pageFlags, sum: 'switch', csv: 'switch' } as const

type LedgerFlags = FlagValues<typeof flagTypes & { readonly json: 'switch' }>

/** `weir orgs ledger`. */
export const ledger = storageCommand(
  'orgs ledger',
  { flags: flagTypes, operands: ['NAME'] },
  async (call) => {
    const { flags, operands, context } = call
    const selected = readQuery(flags)
    await call.open('read', async (storage) => {
      const { id } = await findOrganization(storage, operands[0])
      const query = { ...selected, organization: id }
      if (flags.csv) await printCsv(storage, query, context)
      else await printList(storage, query, flags, context)
    })
  },
)

function readQuery(flags: LedgerFlags): Omit<LedgerQuery, 'organization'> {
  const { limit, csv, json, sum } = flags
  const kind = readChoice(flags.kind, 'orgs', 'kind', entryKinds, entryKinds.join(' or '))
  const page = readPageFlags('orgs', flags, { pattern: entryIdPattern, rule: 'the ID of a ledger entry' })
  if (csv && (json || sum))
    throw new UsageError('--csv cannot be combined with --json or --sum. For help, run: weir orgs --help')
  return { kind, ...page, ...(csv && limit === undefined && { limit: Number.MAX_SAFE_INTEGER }) }
}

async function printCsv(storage: AdminStorage, query: LedgerQuery, { out, outputClosed }: CliContext) {
  for await (const lines of ledgerCsv(storage.ledgerEntries.pieces(query))) {
    if (outputClosed?.aborted) return
    out(lines.join('\n'))
  }
}

async function printList(
  { ledgerEntries }: AdminStorage,
  query: LedgerQuery,
  { json, sum: withSum }: LedgerFlags,
  context: CliContext,
): Promise<void> {
  const { out, err } = context
  const { items, hasMore, balance } = await ledgerEntries.page(query)
  const sum = withSum ? await ledgerEntries.sum(query.organization) : undefined
  const next = hasMore ? (items.at(-1)?.id ?? null) : null
  if (json) {
    const sums = { balance_usd: formatUsd(sum?.balance ?? balance), ...(sum && sumJson(sum)) }
    return out(jsonText({ ...sums, data: items.map(renderEntry), next }))
  }
  out(listText(items, columns, 'There are no such entries.', context))
  if (sum !== undefined) out(sumText(sum))
  if (next !== null) err(`There are more. To list them, add: --after ${next}`)
}

function sumJson({ sum, entries }: LedgerSum) {
  return { sum_usd: formatUsd(sum), entries }
}

function sumText({ entries, sum, balance }: LedgerSum): string {
  const count = `${entries.toLocaleString('en-US')} ${entries === 1 ? 'entry' : 'entries'}`
  return `Sum of all ${count}: ${formatUsd(sum)} USD\nBalance: ${formatUsd(balance)} USD`
}

const columns: readonly Column<LedgerEntry>[] = [
  { title: 'TIME', value: ({ createdAt }) => timeText(createdAt) },
  { title: 'KIND', value: ({ kind }) => kind },
  rightColumn('AMOUNT USD', ({ amount }) => formatUsd(amount)),
  rightColumn('BALANCE USD', ({ balance }) => (balance === null ? '-' : formatUsd(balance)), 2),
  { title: 'REQUEST OR NOTE', value: ({ request, note }) => request ?? note ?? '' },
  { title: 'ID', value: ({ id }) => id, dropOrder: 1 },
]
