import { getTableColumns } from 'drizzle-orm'
import type { Usage } from '../generation/usage.ts'
import type { Nanos } from '../lib/usd.ts'
import { keepable } from './amount.ts'
import type { Database } from './database.ts'
import type { RequestFacts } from './request-facts.ts'
import { usage } from './tables.ts'

/** How a request ended, and what it took. */
export type Outcome = {
  /** Absent where none was reached, like all that follows from an answer. */
  readonly provider?: string
  readonly upstreamModel?: string
  readonly usage?: Usage & { readonly estimated: boolean }
  /** Its price; absent where the model has none. */
  readonly cost?: Nanos
  /** Milliseconds from the request to the end of its reply, and to the first token. */
  readonly latency?: number
  readonly firstToken?: number
  /** The status of the reply; 499 where the caller left before it, 0 where nobody can know. */
  readonly status: number
  /** The code of what went wrong, also in the middle of a stream. */
  readonly error?: string
}

/** Part of a transaction: writes the row of a request; false where it has one already, or its organization is gone. */
export function prepareUsage({ sqlite }: Database): (request: RequestFacts, outcome: Outcome) => boolean {
  // A statement of its own: the mapper of the query builder takes half as long again as the insert.
  const names = Object.keys(getTableColumns(usage)) as (keyof UsageRow)[]
  // The organization may be deleted while its call runs, which is no fault of that call.
  const owner = `?${names.indexOf('organization_id') + 1}`
  const insert = sqlite.prepare(
    `INSERT INTO usage (${names.join()}) SELECT ${names.map((_, index) => `?${index + 1}`).join()} ` +
      `WHERE EXISTS (SELECT 1 FROM organizations WHERE id = ${owner}) ON CONFLICT (id) DO NOTHING`,
  )
  return (request, outcome) => {
    const row = toRow(request, outcome)
    return insert.run(...names.map((name) => row[name])).changes > 0
  }
}

type UsageRow = Readonly<Record<keyof typeof usage.$inferSelect, string | number | bigint | null>>

function toRow(request: RequestFacts, outcome: Outcome): UsageRow {
  return { ...requestColumns(request), ...outcomeColumns(outcome), ...tokenColumns(outcome.usage) }
}

function requestColumns(request: RequestFacts) {
  return {
    id: request.id,
    organization_id: request.organization,
    key_id: request.key,
    created_at: request.createdAt,
    api: request.api,
    model: request.model ?? null,
    stream: Number(request.stream),
    performance_mode: request.performanceMode ?? null,
    user: request.user ?? null,
    tags: textOrNull(request.tags),
    trace: textOrNull(request.trace),
  }
}

function textOrNull(value: unknown): string | null {
  return value === undefined || value === null ? null : JSON.stringify(value)
}

function outcomeColumns(outcome: Outcome) {
  return {
    provider: outcome.provider ?? null,
    upstream_model: outcome.upstreamModel ?? null,
    cost: outcome.cost === undefined ? null : keepable(outcome.cost),
    latency_ms: rounded(outcome.latency),
    first_token_ms: rounded(outcome.firstToken),
    status: outcome.status,
    error: outcome.error ?? null,
  }
}

function rounded(milliseconds: number | undefined): number | null {
  return milliseconds === undefined ? null : Math.round(milliseconds)
}

function tokenColumns(usage: Outcome['usage']) {
  return {
    prompt_tokens: usage?.promptTokens ?? 0,
    completion_tokens: usage?.completionTokens ?? 0,
    cached_tokens: usage?.cachedTokens ?? 0,
    cache_write_tokens: usage?.cacheWriteTokens ?? 0,
    reasoning_tokens: usage?.reasoningTokens ?? 0,
    estimated: Number(usage?.estimated ?? false),
  }
}
