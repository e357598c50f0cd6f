import { csvLine } from '../lib/csv.ts'
import { formatUsd } from '../lib/usd.ts'
import type { LedgerEntry } from '../storage/ports/ledger-entries.ts'

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
