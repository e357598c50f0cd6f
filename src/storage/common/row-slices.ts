import { nextTurn } from '../../lib/time.ts'

/** A row that a query has found. `bytes` counts what is to be read of it. */
export type FoundRow = { readonly id: string; readonly bytes: number }

/** How much is read, and parsed, in one turn of the event loop: at least one row, of any size. */
type SliceLimits = { readonly maxBytes: number; readonly maxRows: number }

/**
 * Reads rows by their ids in slices, so that other work runs between them. Yields the rows of each slice in the order of
 * the ids: undefined for those that were deleted meanwhile.
 */
export async function* readSlices<Row extends { readonly id: string }>(
  found: readonly FoundRow[],
  limits: SliceLimits,
  readRows: (ids: readonly string[]) => Promise<readonly Row[]>,
): AsyncGenerator<readonly (Row | undefined)[]> {
  for (const [index, ids] of slicesOf(found, limits).entries()) {
    if (index > 0) await nextTurn()
    const rows = new Map((await readRows(ids)).map((row) => [row.id, row]))
    yield ids.map((id) => rows.get(id))
  }
}

function slicesOf(
  found: readonly FoundRow[],
  { maxBytes, maxRows }: SliceLimits,
): readonly (readonly string[])[] {
  const slices: string[][] = []
  let last: string[] = []
  let bytes = Infinity
  for (const row of found) {
    if (bytes + row.bytes > maxBytes || last.length === maxRows) {
      slices.push((last = []))
      bytes = 0
    }
    last.push(row.id)
    bytes += row.bytes
  }
  return slices
}
