import { parseUsd } from '../../../lib/usd.ts'
import type { BudgetPeriod, Limits } from '../../api/objects.ts'
import type { AdminChange } from '../../components/dialog.tsx'

/** The rate limits, for people. */
export const rateLimitLabels = {
  requests_per_minute: 'Requests per minute',
  tokens_per_minute: 'Tokens per minute',
  concurrent_requests: 'Requests at once',
} as const

/** A rate limit, or the number of requests at once. */
export type RateLimit = keyof typeof rateLimitLabels

/** Every rate limit, in the order in which they are shown. */
export const rateLimits = Object.keys(rateLimitLabels) as readonly RateLimit[]

/** The limits as they are in a form: numbers are texts, and an empty text is no limit. */
export type LimitDraft = Readonly<Record<RateLimit, string>> & {
  readonly budget: string
  readonly period: BudgetPeriod
  readonly timeZone: string
  readonly allModels: boolean
  /** The allowed models, unless all are. */
  readonly models: readonly string[]
  readonly enabled: boolean
}

/** The form of these limits; without any, that of something new. */
export function toDraft(limits?: Limits): LimitDraft {
  return {
    budget: limits?.budget_usd ?? '',
    period: limits?.budget_period ?? 'none',
    timeZone: limits?.budget_time_zone ?? 'UTC',
    requests_per_minute: String(limits?.requests_per_minute ?? ''),
    tokens_per_minute: String(limits?.tokens_per_minute ?? ''),
    concurrent_requests: String(limits?.concurrent_requests ?? ''),
    allModels: (limits?.models ?? null) === null,
    models: limits?.models ?? [],
    enabled: limits?.enabled ?? true,
  }
}

/** A field whose text can be wrong. */
export type CheckedField = RateLimit | 'budget' | 'timeZone'

/** Returns what is wrong with a field of the form; undefined if it is valid. */
export function problemOf(draft: LimitDraft, field: CheckedField): string | undefined {
  if (field === 'budget') {
    const valid = draft.budget.trim() === '' || (parseUsd(draft.budget.trim()) ?? -1n) >= 0n
    return valid ? undefined : 'Enter an amount such as 5 or 0.50, or nothing.'
  }
  if (field === 'timeZone')
    return isTimeZone(draft.timeZone) ? undefined : 'Enter a time zone such as Europe/Berlin.'
  return parseLimit(draft[field]) === undefined ? 'Enter a whole number above 0, or nothing.' : undefined
}

const checkedFields: readonly CheckedField[] = [...rateLimits, 'budget', 'timeZone']

/** Returns the fields of a request that sets these limits; undefined if one is invalid. */
export function toLimitFields(draft: LimitDraft): Omit<Limits, 'budget'> | undefined {
  if (checkedFields.some((field) => problemOf(draft, field) !== undefined)) return undefined
  return {
    budget_usd: draft.budget.trim() || null,
    budget_period: draft.period,
    budget_time_zone: draft.timeZone,
    requests_per_minute: parseLimit(draft.requests_per_minute) ?? null,
    tokens_per_minute: parseLimit(draft.tokens_per_minute) ?? null,
    concurrent_requests: parseLimit(draft.concurrent_requests) ?? null,
    models: draft.allModels ? null : draft.models,
    enabled: draft.enabled,
  }
}

/** The change that sends the fields that differ from the current values: what others have changed in the meantime stays. */
export function changeOf(path: string, current: object, fields: object | undefined): AdminChange | undefined {
  return fields && { method: 'PATCH', path, body: changedFields(current, fields) }
}

/** The change that creates something with these fields. */
export function creationOf(path: string, fields: object | undefined): AdminChange | undefined {
  return fields && { method: 'POST', path, body: fields }
}

/** Returns the fields whose values differ from the current ones. */
export function changedFields(current: object, fields: object): Readonly<Record<string, unknown>> {
  const values = current as Readonly<Record<string, unknown>>
  return Object.fromEntries(
    Object.entries(fields).filter(([name, value]) => JSON.stringify(value) !== JSON.stringify(values[name])),
  )
}

/** Returns null for no limit, and undefined for a text that is none. */
function parseLimit(text: string): number | null | undefined {
  const digits = text.trim()
  if (digits === '') return null
  const limit = /^\d+$/.test(digits) ? Number(digits) : 0
  return limit > 0 && Number.isSafeInteger(limit) ? limit : undefined
}

function isTimeZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== ''
  } catch {
    return false
  }
}
