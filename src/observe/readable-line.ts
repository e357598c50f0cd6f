import { toDollars } from '../gateway/money/price.ts'
import type { Attempt, RequestRecord } from './request-record.ts'

/** The line of a request for people: short, the most telling first. */
export function readableLine(record: RequestRecord, now: Date = new Date()): string {
  const parts = [
    now.toLocaleTimeString('en-GB'),
    String(record.status()),
    record.background ? 'run' : `${record.method} ${record.path() ?? '?'}`,
    record.facts?.model,
    tries(record),
    record.error(),
    ...amounts(record),
    times(record),
    record.id,
  ]
  return parts.filter((part) => part !== undefined && part !== '').join('  ')
}

/** Why the last one was needed, if there were more. */
function tries({ attempts }: RequestRecord): string {
  return attempts.map(told).join(' → ')
}

function told({ route, outcome }: Attempt): string {
  return outcome === 'ok' ? route.provider.name : `${route.provider.name} (${outcome})`
}

function amounts({ outcome }: RequestRecord): (string | undefined)[] {
  const { usage, cost } = outcome ?? {}
  return [
    usage && `${usage.promptTokens}+${usage.completionTokens} tokens`,
    cost === undefined ? undefined : `$${toDollars(cost)}`,
  ]
}

function times(record: RequestRecord): string {
  const first = record.firstToken()
  const waited = first === undefined ? '' : `, first token ${short(first)}`
  return `${short(record.total)} (own ${short(record.own)}${waited})`
}

function short(milliseconds: number): string {
  if (milliseconds >= 10_000) return `${(milliseconds / 1000).toFixed(1)} s`
  return `${milliseconds.toFixed(milliseconds < 10 ? 1 : 0)} ms`
}
