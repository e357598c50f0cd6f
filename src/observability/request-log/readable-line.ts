import { durationText } from '../../lib/duration-text.ts'
import { roundedUsd } from '../../lib/usd.ts'
import { createPaint, type Paint, printable } from './paint.ts'
import { clockTime, levelLabel } from './readable-log.ts'
import type { Attempt, RequestRecord } from '../request-record.ts'

export type ReadableLineOptions = {
  readonly color?: boolean
  /** What the log says of the failure. */
  readonly cause?: string | undefined
  readonly now?: Date
}

/** The line of a request for people: short, the most telling first, with times and costs rounded. */
export function readableLine(
  record: RequestRecord,
  { color = false, cause, now = new Date() }: ReadableLineOptions = {},
): string {
  const paint = createPaint(color)
  const parts = [
    paint.dim(clockTime(now)),
    paintStatus(record.status(), paint),
    printable(record.background ? 'run' : `${record.method} ${record.path() ?? '?'}`),
    printable(record.facts?.model ?? ''),
    attemptsText(record, paint),
    failureText(record, cause, paint),
    ...amounts(record),
    times(record),
    paint.dim(record.id),
  ]
  return parts.flatMap((part) => (part ? [part] : [])).join('  ')
}

function paintStatus(status: number, paint: Paint): string {
  const label = levelLabel(String(status))
  if (status >= 500) return paint.red(label)
  return status >= 400 ? paint.yellow(label) : paint.green(label)
}

/** Why the last one was needed, if there were more. */
function attemptsText({ attempts }: RequestRecord, paint: Paint): string {
  return attempts.map((attempt) => attemptText(attempt, paint)).join(' → ')
}

function attemptText({ route, outcome }: Attempt, paint: Paint): string {
  const name = printable(route.provider.name)
  return outcome === 'ok' ? name : `${name} ${paint.yellow(`(${outcome})`)}`
}

function failureText(record: RequestRecord, cause: string | undefined, paint: Paint): string {
  // That of the last attempt stands beside its provider.
  const error = record.error() === record.attempts.at(-1)?.outcome ? '' : (record.error() ?? '')
  if (!cause) return error && paint.yellow(error)
  return paint.red(printable(error === '' ? cause : `${error}: ${cause}`))
}

function amounts({ outcome }: RequestRecord): (string | undefined)[] {
  const { usage, cost } = outcome ?? {}
  return [
    usage && `${usage.promptTokens}+${usage.completionTokens} tokens`,
    cost === undefined ? undefined : `$${roundedUsd(cost)}`,
  ]
}

function times(record: RequestRecord): string {
  const first = record.firstToken()
  const waited = first === undefined ? '' : `, first token ${durationText(first)}`
  return `${durationText(record.total)} (own ${durationText(record.own)}${waited})`
}
