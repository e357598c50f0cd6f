import { formatDuration } from '../../lib/time.ts'
import { formatRoundedUsd } from '../../lib/usd.ts'
import type { Attempt, RequestRecord } from '../request-record.ts'
import { clockTime, createPaint, levelLabel, type Paint, printable } from './terminal-text.ts'

/** Options of `readableLine`. */
export type ReadableLineOptions = {
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
