/** A column of a table for people. */
export type Column<Row> = {
  readonly title: string
  readonly value: (row: Row) => string
  readonly align?: 'right'
  /** Where the table is too wide, columns are dropped in this order, those of one number together; absent: never. */
  readonly dropOrder?: number
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
  const next = Math.min(...columns.map(({ dropOrder: dropped = Number.POSITIVE_INFINITY }) => dropped))
  if (next === Number.POSITIVE_INFINITY || fits(text, width)) return text
  return fittingTable(
    rows,
    columns.filter(({ dropOrder: dropped }) => dropped !== next),
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

const eighths = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉']

/** A bar of a share from 0 to 1 of the width, in eighths of a character; anything above 0 can be seen. */
export function barText(share: number, width: number): string {
  if (!(share > 0)) return ''
  const size = Math.max(1, Math.round(Math.min(1, share) * width * 8))
  return '█'.repeat(Math.floor(size / 8)) + (eighths[size % 8] ?? '')
}
