import type { ComponentChildren } from 'preact'
import { useId, useMemo, useState } from 'preact/hooks'
import { SelectField } from './field.tsx'
import { type Column, sortedRows, type SortOrder } from './table-columns.tsx'
import { heightOf, useNarrow, useWindow } from './table-window.ts'

export type TableProps<Row> = {
  /** The caption of the table, for assistive technology. */
  readonly label: string
  readonly columns: readonly Column<Row>[]
  readonly rows: readonly Row[]
  readonly rowKey: (row: Row) => string
  readonly initialSort?: SortOrder
  /** Makes a row the link to a place, unless it is undefined: the first cell has the link. */
  readonly rowHref?: (row: Row) => string | undefined
  /** The content that is shown instead of no rows. */
  readonly empty?: ComponentChildren
  /** Whether more rows are to be loaded: what is there cannot be sorted. */
  readonly partial?: boolean
  /** Called when the end comes into sight, for lists that are loaded in pages. */
  readonly onNearEnd?: (() => void) | undefined
}

/**
 * A table that can be sorted; on a phone, a list of cards. Of a long list, only the rows in sight are rendered. Cells have
 * one line.
 */
export function Table<Row>(props: TableProps<Row>) {
  const { rows, label, partial = false } = props
  const cards = useNarrow()
  const columns = useMemo(() => shownColumns(props.columns, cards), [cards, props.columns])
  const [chosen, setOrder] = useState(props.initialSort)
  const order = partial ? undefined : chosen
  const sorted = useMemo(() => sortedRows(rows, columns, order), [rows, columns, order])
  const { container, first, last, wide, onScroll } = useWindow({
    count: sorted.length,
    height: heightOf(cards ? columns.length : undefined),
    onNearEnd: props.onNearEnd,
  })
  const hint = useId()
  const region = {
    tabIndex: 0,
    role: 'region' as const,
    'aria-label': label,
    'aria-describedby': wide ? hint : undefined,
  }
  const shown = { ...props, columns, order, onSort: partial ? undefined : setOrder }
  if (rows.length === 0 && props.empty !== undefined) return <>{props.empty}</>
  return (
    <div class={cards ? 'table-frame cards' : 'table-frame'}>
      {cards && rows.length > 1 && <SortField {...shown} />}
      <div class="table" ref={container} onScroll={onScroll} {...region}>
        <table aria-rowcount={sorted.length + 1} role={cards ? 'table' : undefined}>
          <caption class="visually-hidden">{label}</caption>
          <HeaderRow {...shown} cards={cards} />
          <Body {...shown} rows={sorted} first={first} last={last} cards={cards} />
        </table>
      </div>
      {wide && (
        <p class="hint" id={hint}>
          Scroll sideways to see all columns →
        </p>
      )}
    </div>
  )
}

function shownColumns<Row>(columns: readonly Column<Row>[], cards: boolean): readonly Column<Row>[] {
  return cards ? columns.filter(({ minor }) => !minor) : columns
}

/** The rows in sight, and the room of the others. */
function Body<Row>(
  props: Pick<TableProps<Row>, 'columns' | 'rows' | 'rowKey' | 'rowHref'> & {
    readonly first: number
    readonly last: number
    readonly cards: boolean
  },
) {
  const { columns, rows, first, last, cards } = props
  const height = heightOf(cards ? columns.length : undefined)
  return (
    <tbody role={cards ? 'rowgroup' : undefined}>
      <Spacer height={first * height} columns={columns.length} />
      {rows.slice(first, last).map((row, index) => (
        <TableRow
          key={props.rowKey(row)}
          row={row}
          position={first + index + 2}
          table={props}
          cards={cards}
        />
      ))}
      <Spacer height={(rows.length - last) * height} columns={columns.length} />
    </tbody>
  )
}

type SortProps<Row> = {
  readonly columns: readonly Column<Row>[]
  readonly order: SortOrder | undefined
  /** Absent while the rows cannot be sorted. */
  readonly onSort: ((order: SortOrder) => void) | undefined
}

/** Cards have no headers to sort by. */
function SortField<Row>({ columns, order, onSort }: SortProps<Row>) {
  const sortable = columns.filter(({ sortValue }) => sortValue !== undefined)
  if (onSort === undefined || sortable.length < 2) return null
  const options = sortable.flatMap(({ id, header }) => [
    { value: `${id} ascending`, label: `${header} ↑` },
    { value: `${id} descending`, label: `${header} ↓` },
  ])
  const unsorted = order === undefined ? [{ value: '', label: 'As listed' }] : []
  return (
    <SelectField
      label="Sort by"
      value={order === undefined ? '' : `${order.column} ${order.direction}`}
      options={[...unsorted, ...options]}
      onChange={(value) => {
        const [column = '', direction] = value.split(' ')
        onSort({ column, direction: direction === 'ascending' ? 'ascending' : 'descending' })
      }}
    />
  )
}

function HeaderRow<Row>(props: SortProps<Row> & { readonly cards: boolean }) {
  const { columns, order, onSort, cards } = props
  return (
    <thead role={cards ? 'rowgroup' : undefined}>
      <tr aria-rowindex={1} role={cards ? 'row' : undefined}>
        {columns.map(({ id, header, sortValue, align, width }) => {
          const direction = order?.column === id ? order.direction : undefined
          const next = direction === 'descending' ? 'ascending' : 'descending'
          return (
            <th
              key={id}
              scope="col"
              role={cards ? 'columnheader' : undefined}
              class={align}
              style={width === undefined ? undefined : { width }}
              aria-sort={sortValue && onSort && (direction ?? 'none')}
            >
              {sortValue === undefined || onSort === undefined || cards ? (
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
  readonly table: Pick<TableProps<Row>, 'columns' | 'rowHref'>
  readonly cards: boolean
}) {
  const { row, position, table, cards } = props
  const href = table.rowHref?.(row)
  return (
    <tr aria-rowindex={position} class={href === undefined ? '' : 'linked'} role={cards ? 'row' : undefined}>
      {table.columns.map(({ id, header, render, align }, index) => {
        const content = href !== undefined && index === 0 ? <a href={href}>{render(row)}</a> : render(row)
        const attributes = cards ? { role: 'cell' as const, 'data-label': header } : { class: align }
        return (
          <td key={id} {...attributes}>
            {cards ? <span class="cell">{content}</span> : content}
          </td>
        )
      })}
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
