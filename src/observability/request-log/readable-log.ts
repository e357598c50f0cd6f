import type { Log, LogFields } from '../../lib/log.ts'
import type { FailureNotes } from './failure-notes.ts'
import { createPaint, type Paint, printable } from './paint.ts'

export type ReadableLogOptions = {
  /** Writes one line, without its end. */
  write(line: string): void
  readonly color: boolean
  /** Takes what is said of a failed request, where it has a line of its own; absent: it is written like all else. */
  readonly notes?: FailureNotes
  readonly now?: () => Date
}

/** A log for people: the time, the level, the message and its fields in one line, as the lines of requests. */
export function createReadableLog({ write, color, notes, now = () => new Date() }: ReadableLogOptions): Log {
  const paint = createPaint(color)
  const line = (label: string, message: string, fields: LogFields = {}) =>
    [paint.dim(clockTime(now())), label, printable(message), fieldsText(fields, paint)]
      .filter(Boolean)
      .join('  ')
  return {
    info: (message, fields) => write(line(levelLabel('info'), message, fields)),
    warn: (message, fields) => write(line(paint.yellow(levelLabel('warn')), message, fields)),
    error(message, fields) {
      const text = () => line(paint.red(levelLabel('error')), message, fields)
      const noted = typeof fields?.request === 'string' && notes?.add(fields.request, causeText(fields))
      if (!noted) write(text())
    },
  }
}

/** The time of day in the time zone of the reader. */
export function clockTime(time: Date): string {
  return time.toLocaleTimeString('en-GB')
}

const labelWidth = 5

/** The second column of every line: a level, or the status of a request. */
export function levelLabel(text: string): string {
  return text.padEnd(labelWidth)
}

function fieldsText(fields: LogFields, paint: Paint): string {
  const parts = Object.entries(fields).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}=${valueText(String(value))}`],
  )
  return parts.length === 0 ? '' : paint.dim(parts.join('  '))
}

function valueText(value: string): string {
  const text = printable(value)
  return /^[^\s"=]+$/.test(text) ? text : JSON.stringify(text)
}

/** The cause that the caller was not told, else what it was. */
function causeText({ cause, told }: LogFields): string {
  return String(cause ?? told ?? '')
}
