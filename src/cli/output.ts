/** A column of a table for people. */
export type Column<Row> = {
  readonly title: string
  readonly value: (row: Row) => string
  readonly align?: 'right'
  /** Where the table is too wide, columns are dropped in this order, those of one number together; absent: never. */
  readonly dropped?: number
}

/** Aligned text: a line of titles and one line a row, without spaces at the ends. */
export function table<Row>(rows: readonly Row[], columns: readonly Column<Row>[]): string {
  const cells = [
    columns.map(({ title }) => title),
    ...rows.map((row) => columns.map(({ value }) => oneLine(value(row)))),
  ]
  const widths = columns.map((_, index) =>
    Math.max(...cells.map((line) => Bun.stringWidth(line[index] ?? ''))),
  )
  const pad = (cell: string, index: number) => {
    const space = ' '.repeat((widths[index] ?? 0) - Bun.stringWidth(cell))
    return columns[index]?.align === 'right' ? space + cell : cell + space
  }
  return cells.map((line) => line.map(pad).join('  ').trimEnd()).join('\n')
}

/** A table without the columns that make it wider than so many characters, as far as columns can be dropped. */
export function fittingTable<Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  width = Number.POSITIVE_INFINITY,
): string {
  const text = table(rows, columns)
  const next = Math.min(...columns.map(({ dropped = Number.POSITIVE_INFINITY }) => dropped))
  if (next === Number.POSITIVE_INFINITY || fits(text, width)) return text
  return fittingTable(
    rows,
    columns.filter(({ dropped }) => dropped !== next),
    width,
  )
}

function fits(text: string, width: number): boolean {
  return text.split('\n').every((line) => Bun.stringWidth(line) <= width)
}

/** What `--json` prints: an object or a list of objects, for programs. */
export function jsonText(value: object): string {
  return JSON.stringify(value, null, 2)
}

function oneLine(cell: string): string {
  return cell.replace(/\s+/g, ' ').trim()
}
