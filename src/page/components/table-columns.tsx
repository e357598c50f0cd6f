import type { ComponentChildren } from 'preact'
import { Foreign, Time } from './facts.tsx'
import { formatCount } from './format.ts'

/** A column: how a cell is rendered and, where it can be sorted, by which value. */
export type Column<Row> = {
  readonly id: string
  readonly header: string
  readonly render: (row: Row) => ComponentChildren
  readonly sortValue?: (row: Row) => SortValue
  readonly align?: 'right'
  /** Whether a card, which the list has on a phone, omits it: the place that the row leads to has it. */
  readonly minor?: boolean
  /** A width in CSS, such as `12rem`. */
  readonly width?: string
}

type SortValue = string | number | bigint | null

/** A column of any content, which can be sorted if it has a `sortValue`. */
export function column<Row>(
  id: string,
  header: string,
  render: (row: Row) => ComponentChildren,
  options: Omit<Column<Row>, 'id' | 'header' | 'render'> = {},
): Column<Row> {
  return { id, header, render, ...options }
}

/** A column of names, which are foreign text. */
export function nameColumn<Row>(id: string, header: string, nameOf: (row: Row) => string): Column<Row> {
  return column(id, header, (row) => <Foreign text={nameOf(row)} />, { sortValue: nameOf })
}

/** A column of numbers. */
export function countColumn<Row>(id: string, header: string, countOf: (row: Row) => number): Column<Row> {
  return column(id, header, (row) => formatCount(countOf(row)), { align: 'right', sortValue: countOf })
}

/** A column of days. */
export function dayColumn<Row>(id: string, header: string, timeOf: (row: Row) => string): Column<Row> {
  return column(id, header, (row) => <Time at={timeOf(row)} format="day" />, { sortValue: timeOf })
}

/** The column by which a table is sorted, and in which direction. */
export type SortOrder = { readonly column: string; readonly direction: 'ascending' | 'descending' }

/** Returns the rows in this order; rows without a value come last in both directions. */
export function sortedRows<Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
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
