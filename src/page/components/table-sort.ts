/** The column by which a table is sorted, and in which direction. */
export type SortOrder = { readonly column: string; readonly direction: 'ascending' | 'descending' }

type SortValue = string | number | bigint | null
type Sortable<Row> = { readonly id: string; readonly sortValue?: (row: Row) => SortValue }

/** Returns the rows in this order; rows without a value come last in both directions. */
export function sortedRows<Row>(
  rows: readonly Row[],
  columns: readonly Sortable<Row>[],
  order: SortOrder | undefined,
): readonly Row[] {
  const valueOf = columns.find(({ id }) => id === order?.column)?.sortValue
  if (order === undefined || valueOf === undefined) return rows
  const sign = order.direction === 'ascending' ? 1 : -1
  return rows
    .map((row) => ({ row, value: valueOf(row) }))
    .toSorted((a, b) => compare(a.value, b.value, sign))
    .map(({ row }) => row)
}

const collator = new Intl.Collator(undefined, { numeric: true })

function compare(a: SortValue, b: SortValue, sign: number): number {
  if (a === null || b === null) return Number(a === null) - Number(b === null)
  if (typeof a === 'string' && typeof b === 'string') return sign * collator.compare(a, b)
  return sign * (Number(a > b) - Number(a < b))
}
