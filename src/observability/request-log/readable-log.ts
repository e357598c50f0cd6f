import type { Log, LogFields } from '../../lib/log.ts'
import type { FailureNotes } from './failure-notes.ts'
import { clockTime, createPaint, levelLabel, type Paint, printable } from './terminal-text.ts'

/** Options of `createReadableLog`. */
export type ReadableLogOptions = {
  /** Writes one line; the text has no line end. */
  write(line: string): void
  readonly color: boolean
  /** Receives the causes of failed requests, which are shown in the request lines; if absent, they are written here. */
  readonly notes?: FailureNotes
  readonly now?: () => Date
}

/** Creates a log for a terminal: the time, the level, the message and its fields in one line. */
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
      const added = typeof fields?.request === 'string' && notes?.add(fields.request, causeText(fields))
      if (!added) write(text())
    },
  }
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

/** The internal cause; if there is none, the error message that the caller received (the log field `client_message`). */
function causeText({ cause, ...fields }: LogFields): string {
  return String(cause ?? fields['client_message'] ?? '')
}
