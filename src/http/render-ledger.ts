import { Type } from 'typebox'
import { csvLine } from '../lib/csv.ts'
import { formatUsd } from '../lib/usd.ts'
import { entryKinds, type LedgerEntry } from '../storage/ports/ledger-entries.ts'
import { stringEnum } from './schema.ts'

/** The ids of entries, by which lists go on. */
export const entryIdPattern = /^led_[0-9a-f]{32}$/

/** Returns an entry of a ledger as the admin API returns it, and the command line prints it with `--json`. */
export function renderEntry({ id, createdAt, kind, amount, balance, request, note }: LedgerEntry) {
  return {
    id,
    created_at: new Date(createdAt).toISOString(),
    kind,
    amount_usd: formatUsd(amount),
    balance_usd: balance === null ? null : formatUsd(balance),
    request_id: request,
    note,
  }
}

const columns = ['id', 'created_at', 'kind', 'amount_usd', 'balance_usd', 'request_id', 'note'] as const

/** The lines of these entries as CSV. The header is part of the first piece, which fails if they cannot be read. */
export async function* ledgerCsv(
  pieces: AsyncGenerator<readonly LedgerEntry[], void>,
): AsyncGenerator<readonly string[], void> {
  let header: readonly string[] = [csvLine(columns)]
  for await (const entries of pieces) {
    yield [...header, ...entries.map(csvLineOf)]
    header = []
  }
  if (header.length > 0) yield header
}

function csvLineOf(entry: LedgerEntry): string {
  const rendered = renderEntry(entry)
  return csvLine(columns.map((name) => rendered[name]))
}

const text = (description: string) => Type.String({ description })
const textOrNull = (description: string) => Type.Union([Type.String(), Type.Null()], { description })

/** The schema of an entry. */
export const LedgerEntryObject = Type.Object(
  {
    object: Type.Literal('ledger_entry'),
    id: text('The ID of the entry.'),
    created_at: text('When the balance changed.'),
    kind: stringEnum(entryKinds, {
      description:
        '`credit` for money that the operator added or took back, `charge` for the cost of a request.',
    }),
    amount_usd: text(
      'The change of the balance in USD, an exact decimal number; negative where it became lower.',
    ),
    balance_usd: textOrNull(
      'The balance after the entry. Null if the list has one kind only, or begins after more than 10,000 newer entries.',
    ),
    request_id: textOrNull('The ID of the request that was charged.'),
    note: textOrNull('The note of the operator.'),
  },
  { title: 'LedgerEntry' },
)
