import type { Log, LogFields } from '../../lib/log.ts'
import { formatDuration } from '../../lib/time.ts'
import { formatRoundedUsd } from '../../lib/usd.ts'
import type { Attempt } from '../../gateway/observer.ts'
import type { RequestRecord } from '../request-record.ts'
import type { FailureNotes } from './failure-notes.ts'

type ReadableLogOptions = {
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

type ReadableLineOptions = {
  readonly color?: boolean
  /** The logged cause of the failure. */
  readonly cause?: string | undefined
  readonly now?: Date
}

/** Formats the line of a request for a terminal, with rounded times and costs. */
export function readableLine(
  record: RequestRecord,
  { color = false, cause, now = new Date() }: ReadableLineOptions = {},
): string {
  const paint = createPaint(color)
  const parts = [
    paint.dim(clockTime(now)),
    paintStatus(record.status(), paint),
    printable(record.background ? 'run' : `${record.method} ${record.path() ?? '?'}`),
    printable(record.metadata?.model ?? ''),
    attemptsText(record, paint),
    failureText(record, cause, paint),
    ...usageTexts(record),
    durationsText(record),
    paint.dim(record.id),
  ]
  return parts.flatMap((part) => (part ? [part] : [])).join('  ')
}

function paintStatus(status: number, paint: Paint): string {
  const label = levelLabel(String(status))
  if (status >= 500) return paint.red(label)
  return status >= 400 ? paint.yellow(label) : paint.green(label)
}

/** Lists the attempts in order, failed ones with their outcome. */
function attemptsText({ attempts }: RequestRecord, paint: Paint): string {
  return attempts.map((attempt) => attemptText(attempt, paint)).join(' → ')
}

function attemptText({ route, outcome }: Attempt, paint: Paint): string {
  const name = printable(route.provider.name)
  return outcome === 'ok' ? name : `${name} ${paint.yellow(`(${outcome})`)}`
}

function failureText(record: RequestRecord, cause: string | undefined, paint: Paint): string {
  // The outcome of the last attempt is already shown beside its provider.
  const error = record.errorCode() === record.attempts.at(-1)?.outcome ? '' : (record.errorCode() ?? '')
  if (!cause) return error && paint.yellow(error)
  return paint.red(printable(error === '' ? cause : `${error}: ${cause}`))
}

function usageTexts({ outcome }: RequestRecord): (string | undefined)[] {
  const { usage, cost } = outcome ?? {}
  return [
    usage && `${usage.promptTokens}+${usage.completionTokens} tokens`,
    cost === undefined ? undefined : `$${formatRoundedUsd(cost)}`,
  ]
}

function durationsText(record: RequestRecord): string {
  const first = record.firstTokenMs()
  const firstTokenText = first === undefined ? '' : `, first token ${formatDuration(first)}`
  return `${formatDuration(record.totalMs)} (own ${formatDuration(record.gatewayMs)}${firstTokenText})`
}

/** Colours text for a terminal. */
type Paint = {
  dim(text: string): string
  green(text: string): string
  yellow(text: string): string
  red(text: string): string
}

/** Creates a paint that colours text, or returns it unchanged if `color` is false. */
function createPaint(color: boolean): Paint {
  const paint = (code: number) => (text: string) => (color ? `\u001b[${code}m${text}\u001b[0m` : text)
  return { dim: paint(2), green: paint(32), yellow: paint(33), red: paint(31) }
}

/** Replaces control characters with spaces: foreign text must not control a terminal or break a line. */
function printable(text: string): string {
  // oxlint-disable-next-line no-control-regex -- control characters are what is replaced.
  return text.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]+/g, ' ')
}

/** Formats the time of day in the local time zone. */
export function clockTime(time: Date): string {
  return time.toLocaleTimeString('en-GB')
}

const labelWidth = 5

/** Pads the second column of every line: a log level or the status of a request. */
export function levelLabel(text: string): string {
  return text.padEnd(labelWidth)
}
