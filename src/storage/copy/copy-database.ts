import type {
  CopiedTable,
  CopySnapshot,
  CopySource,
  CopySums,
  CopyTarget,
  CopyWriter,
  UnbalancedOrganization,
} from '../ports/copy.ts'
import { copiedTables } from './copied-tables.ts'
import { toStorable } from './storable-rows.ts'

/** The result of a copy that was verified. */
export type CopyResult = {
  /** The number of rows by table. */
  readonly rows: Readonly<Record<string, number>>
  readonly sums: CopySums
  /** The organizations whose balance was not the sum of their ledger before, and is not in the copy. */
  readonly unbalanced: readonly UnbalancedOrganization[]
  /** The number of texts in which characters were replaced by U+FFFD, because one of the databases cannot store them. */
  readonly replaced: number
}

/** How far a copy is. */
export type CopyProgress = {
  /** The name of the table that is being copied. */
  readonly table: string
  /** Rows of all tables. */
  readonly copied: number
  readonly total: number
}

/**
 * Copies the content of the source at one moment to the empty target, table by table and in batches, and compares the
 * number of rows, the sums of the balances, and each balance with its ledger. Rejects if they differ; the target cannot
 * be used then.
 */
export function copyDatabase(
  source: CopySource,
  target: CopyTarget,
  onProgress: (progress: CopyProgress) => void = () => {},
): Promise<CopyResult> {
  return source.snapshot((snapshot) =>
    target.fill(async (writer) => {
      const expected = await countRows(snapshot)
      const replaced = await copyTables(snapshot, writer, sumOf(expected), onProgress)
      return { ...(await verify(snapshot, writer, expected)), replaced }
    }),
  )
}

type Counts = ReadonlyMap<CopiedTable, number>

async function countRows(content: Pick<CopySnapshot, 'count'>): Promise<Counts> {
  const counts = new Map<CopiedTable, number>()
  for (const table of copiedTables) counts.set(table, await content.count(table))
  return counts
}

/** Returns the number of texts that were replaced. */
async function copyTables(
  snapshot: CopySnapshot,
  writer: CopyWriter,
  total: number,
  onProgress: (progress: CopyProgress) => void,
): Promise<number> {
  let copied = 0
  let replaced = 0
  for (const table of copiedTables)
    for await (const batch of snapshot.rows(table)) {
      const storable = toStorable(table, batch)
      await writer.insert(table, storable.batch)
      copied += batch.rows.length
      replaced += storable.replaced()
      onProgress({ table: table.name, copied, total })
    }
  return replaced
}

async function verify(
  snapshot: CopySnapshot,
  writer: CopyWriter,
  expected: Counts,
): Promise<Omit<CopyResult, 'replaced'>> {
  const found = await countRows(writer)
  for (const [table, rows] of expected)
    if (found.get(table) !== rows)
      throw new Error(
        `The copy is not complete: ${table.name} has ${found.get(table)} rows instead of ${rows}. Run weir copy again.`,
      )
  const [sums, copied] = [await snapshot.sums(), await writer.sums()]
  if (sums.balance !== copied.balance || sums.reserved !== copied.reserved || sums.ledger !== copied.ledger)
    throw new Error('The copy is not exact: the sums of the balances differ. Run weir copy again.')
  const unbalanced = await snapshot.unbalanced()
  if (!Bun.deepEquals(unbalanced, await writer.unbalanced()))
    throw new Error(
      'The copy is not exact: balances differ from the sums of their ledgers. Run weir copy again.',
    )
  return { rows: Object.fromEntries([...expected].map(([{ name }, rows]) => [name, rows])), sums, unbalanced }
}

function sumOf(counts: Counts): number {
  return [...counts.values()].reduce((sum, rows) => sum + rows, 0)
}
