import type { CliContext } from './context.ts'

/** A column of a table. */
export type Column<Row> = {
  readonly title: string
  readonly value: (row: Row) => string
  readonly align?: 'right'
  /** The order in which columns are dropped from a table that is too wide, equal ones together; absent: never. */
  readonly dropOrder?: number
}

/** A column of numbers. */
export function rightColumn<Row>(
  title: string,
  value: (row: Row) => string,
  dropOrder?: number,
): Column<Row> {
  return { title, value, align: 'right', ...(dropOrder !== undefined && { dropOrder }) }
}

/** Formats aligned text: a line of titles, then one line a row, without trailing spaces. */
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

/** Formats a table and drops columns until it fits the width, in characters, if enough columns can be dropped. */
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

/** Formats a list as a table that fits the terminal; without items, as the sentence that says so. */
export function listText<Row>(
  items: readonly Row[],
  columns: readonly Column<Row>[],
  none: string,
  { terminal }: Pick<CliContext, 'terminal'>,
): string {
  return items.length === 0 ? none : fittingTable(items, columns, terminal?.size().columns)
}

function fits(text: string, width: number): boolean {
  return text.split('\n').every((line) => Bun.stringWidth(line) <= width)
}

/** A line of `detailText`: a label and its value. */
export type DetailRow = readonly [label: string, value: string | undefined]

/** Formats the properties of one object, a line each; those without a value are omitted. */
export function detailText(rows: readonly DetailRow[]): string {
  const shown = rows.filter(([, value]) => value !== undefined)
  const width = Math.max(...shown.map(([label]) => label.length))
  return shown.map(([label, value = '']) => `${label.padEnd(width)}  ${oneLine(value)}`.trimEnd()).join('\n')
}

/** Formats an object or a list as `--json` prints it: JSON escapes only some of the characters that a terminal obeys. */
export function jsonText(value: object): string {
  const escaped = (character: string) => `\\u00${character.charCodeAt(0).toString(16)}`
  return JSON.stringify(value, null, 2).replace(/[\x7f-\x9f]/g, escaped)
}

/** Formats a time to the second, in UTC. */
export function timeText(time: number): string {
  return `${new Date(time).toISOString().slice(0, 19).replace('T', ' ')}Z`
}

/** Without control characters, which a terminal would obey: clients choose the names of users and sessions. */
function oneLine(cell: string): string {
  return cell
    .replace(/\s+/g, ' ')
    .replace(/\p{Cc}/gu, '\ufffd')
    .trim()
}

const eighths = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉']

/** Draws a bar for a share from 0 to 1, in eighths of a character; any share above 0 is visible. */
export function barText(share: number, width: number): string {
  if (!(share > 0)) return ''
  const size = Math.max(1, Math.round(Math.min(1, share) * width * 8))
  return '█'.repeat(Math.floor(size / 8)) + (eighths[size % 8] ?? '')
}

/** Draws a bar for the progress of a command. */
export function progressBar(share: number): string {
  return barText(share, progressWidth).padEnd(progressWidth)
}

const progressWidth = 20

/** Formats a titled list, behind an empty line; nothing without lines. */
export function section(title: string, lines: readonly string[]): string[] {
  const all = lines.flatMap((line) => line.split('\n'))
  return all.length === 0 ? [] : ['', title, ...all.map((line) => `  ${line}`)]
}

/** A progress line on standard error. */
type Progress = {
  /** Shows this text from now on; the function is called for each redraw. */
  show(text: () => string): void
  /** Stops and clears the line. */
  end(): void
}

/** A terminal is redrawn in place; elsewhere each update is a new line. */
const redrawIntervalMs = 150
const lineIntervalMs = 1000

/** Creates a progress line; with `json` it shows nothing. */
export function createProgress({ err, errTerminal }: CliContext, json = false): Progress {
  if (json) return { show() {}, end() {} }
  let text = () => ''
  const screen = errTerminal
  const draw = () => {
    if (screen === undefined) return err(text())
    screen.write(`\r${Bun.sliceAnsi(text(), 0, screen.size().columns - 1)}\u001b[K`)
  }
  const timer = setInterval(draw, screen === undefined ? lineIntervalMs : redrawIntervalMs)
  return {
    show: (next) => void (text = next),
    end() {
      clearInterval(timer)
      screen?.write('\r\u001b[K')
    },
  }
}

/** Shows progress on standard error until the promise settles, and returns its value. */
export async function withProgress<Value>(
  promise: Promise<Value>,
  context: CliContext,
  json: boolean | undefined,
  text: () => string,
): Promise<Value> {
  const progress = createProgress(context, json)
  progress.show(text)
  try {
    return await promise
  } finally {
    progress.end()
  }
}
