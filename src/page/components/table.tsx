import type { ComponentChildren } from 'preact'
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { type Column, sortedRows, type SortOrder } from './table-columns.tsx'

type TableProps<Row> = {
  /** The caption of the table, for assistive technology. */
  readonly label: string
  readonly columns: readonly Column<Row>[]
  readonly rows: readonly Row[]
  readonly rowKey: (row: Row) => string
  readonly initialSort?: SortOrder
  /** Makes a row the link to a place: the first cell has the link. */
  readonly rowHref?: (row: Row) => string
  /** The content that is shown instead of no rows. */
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

/** Pixels; the style sheet has the same value. */
const rowHeight = 36
/** A shorter list is rendered whole, so that the browser can search in it. */
const minVirtualized = 200
/** Rows above and below those in sight. */
const overscan = 12

/** Which rows of a long list have to be rendered for the part of the container in sight. */
function useWindow(count: number) {
  const container = useRef<HTMLDivElement>(null)
  const [range, setRange] = useState({ top: 0, height: 800 })
  const measure = () => {
    const { scrollTop = 0, clientHeight = 0 } = container.current ?? {}
    // The number of rendered rows changes only with whole steps.
    const step = rowHeight * Math.floor(overscan / 2)
    const top = Math.floor(scrollTop / step) * step
    setRange((current) =>
      current.top === top && current.height === clientHeight ? current : { top, height: clientHeight },
    )
  }
  useEffect(measure, [count])
  const whole = count <= minVirtualized
  const first = whole ? 0 : Math.max(0, Math.floor(range.top / rowHeight) - overscan)
  const visible = Math.ceil(range.height / rowHeight) + 3 * overscan
  return { container, first, last: whole ? count : Math.min(count, first + visible), onScroll: measure }
}

/** Pixels from the end at which more rows are requested. */
const nearEnd = 600

/** Calls `onNearEnd` after each change of the rows while the end of the list is in sight; returns what to call on a scroll. */
function useNearEnd(
  container: { readonly current: HTMLElement | null },
  count: number,
  onNearEnd: (() => void) | undefined,
): () => void {
  const check = () => {
    const element = container.current
    if (element === null || onNearEnd === undefined) return
    if (element.scrollHeight - element.scrollTop - element.clientHeight < nearEnd) onNearEnd()
  }
  useEffect(check, [count, onNearEnd])
  return check
}
