import type { ComponentChildren } from 'preact'
import { useMemo, useState } from 'preact/hooks'
import { type SortOrder, sortedRows } from './table-sort.ts'
import { rowHeight, useNearEnd, useWindow } from './table-window.ts'

/** A column: how a cell is rendered and, where it can be sorted, by which value. */
export type Column<Row> = {
  readonly id: string
  readonly header: string
  readonly render: (row: Row) => ComponentChildren
  readonly sortValue?: (row: Row) => string | number | bigint | null
  readonly align?: 'right'
  /** A width in CSS, such as `12rem`. */
  readonly width?: string
}

type TableProps<Row> = {
  /** What the table shows, for assistive technology. */
  readonly label: string
  readonly columns: readonly Column<Row>[]
  readonly rows: readonly Row[]
  readonly rowKey: (row: Row) => string
  readonly initialSort?: SortOrder
  /** Makes a row the link to a place: the first cell has the link. */
  readonly rowHref?: (row: Row) => string
  /** What is shown instead of no rows. */
  readonly empty?: ComponentChildren
  /** Called when the end comes into sight, for lists that are loaded in pages. */
  readonly onNearEnd?: (() => void) | undefined
}

/** A table that can be sorted. Of a long list, only the rows in sight are rendered. Cells have one line. */
export function Table<Row>(props: TableProps<Row>) {
  const { columns, rows, label } = props
  const [order, setOrder] = useState(props.initialSort)
  const sorted = useMemo(() => sortedRows(rows, columns, order), [rows, columns, order])
  const { container, first, last, onScroll } = useWindow(sorted.length)
  const checkEnd = useNearEnd(container, sorted.length, props.onNearEnd)
  const handleScroll = () => {
    onScroll()
    checkEnd()
  }
  if (rows.length === 0 && props.empty !== undefined) return <>{props.empty}</>
  return (
    <div class="table" ref={container} onScroll={handleScroll} tabIndex={0} role="region" aria-label={label}>
      <table aria-rowcount={sorted.length + 1}>
        <caption class="visually-hidden">{label}</caption>
        <HeaderRow columns={columns} order={order} onSort={setOrder} />
        <tbody>
          <Spacer height={first * rowHeight} columns={columns.length} />
          {sorted.slice(first, last).map((row, index) => (
            <TableRow key={props.rowKey(row)} row={row} position={first + index + 2} table={props} />
          ))}
          <Spacer height={(sorted.length - last) * rowHeight} columns={columns.length} />
        </tbody>
      </table>
    </div>
  )
}

function HeaderRow<Row>(props: {
  readonly columns: readonly Column<Row>[]
  readonly order: SortOrder | undefined
  readonly onSort: (order: SortOrder) => void
}) {
  const { columns, order, onSort } = props
  return (
    <thead>
      <tr aria-rowindex={1}>
        {columns.map(({ id, header, sortValue, align, width }) => {
          const direction = order?.column === id ? order.direction : undefined
          const next = direction === 'descending' ? 'ascending' : 'descending'
          return (
            <th
              key={id}
              scope="col"
              class={align}
              style={width === undefined ? undefined : { width }}
              aria-sort={sortValue && (direction ?? 'none')}
            >
              {sortValue === undefined ? (
                header
              ) : (
                <button type="button" onClick={() => onSort({ column: id, direction: next })}>
                  {header}
                  <span aria-hidden="true" class="sort">
                    {direction === 'ascending' && '↑'}
                    {direction === 'descending' && '↓'}
                  </span>
                </button>
              )}
            </th>
          )
        })}
      </tr>
    </thead>
  )
}

function TableRow<Row>(props: {
  readonly row: Row
  readonly position: number
  readonly table: TableProps<Row>
}) {
  const { row, position, table } = props
  const href = table.rowHref?.(row)
  return (
    <tr aria-rowindex={position} class={href === undefined ? '' : 'linked'}>
      {table.columns.map(({ id, render, align }, index) => (
        <td key={id} class={align}>
          {href !== undefined && index === 0 ? <a href={href}>{render(row)}</a> : render(row)}
        </td>
      ))}
    </tr>
  )
}

/** The height of the rows that are not rendered. */
function Spacer({ height, columns }: { readonly height: number; readonly columns: number }) {
  if (height <= 0) return null
  return (
    <tr aria-hidden="true" class="spacer">
      <td colSpan={columns} style={{ height: `${height}px` }} />
    </tr>
  )
}
