import type { Usage } from '../generation/usage.ts'
import type { Nanos } from '../lib/usd.ts'
import { keepable } from './amount.ts'
import type { Database } from './database.ts'
import { organizationExistsSql } from './organization.ts'
import type { RequestFacts } from './request-facts.ts'
import type { usage } from './tables.ts'

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
  const names = Object.keys(columns)
  const values = Object.values(columns)
  // The organization may be deleted while its call runs, which is no fault of that call.
  const owner = `?${names.indexOf('organization_id') + 1}`
  const insert = sqlite.prepare(
    `INSERT INTO usage (${names.join()}) SELECT ${names.map((_, index) => `?${index + 1}`).join()} ` +
      `WHERE EXISTS (SELECT 1 FROM organizations WHERE id = ${owner} AND ${organizationExistsSql}) ` +
      'ON CONFLICT DO NOTHING',
  )
  return (request, outcome) => insert.run(...values.map((value) => value(request, outcome))).changes > 0
}

type Columns = Readonly<
  Record<keyof typeof usage.$inferSelect, (request: RequestFacts, outcome: Outcome) => Value>
>
type Value = string | number | bigint | null

/** What each column of the row holds. */
const columns: Columns = {
  id: ({ id }) => id,
  organization_id: ({ organization }) => organization,
  key_id: ({ key }) => key,
  created_at: ({ createdAt }) => createdAt,
  api: ({ api }) => api,
  model: ({ model = null }) => model,
  provider: (_, { provider = null }) => provider,
  upstream_model: (_, { upstreamModel = null }) => upstreamModel,
  stream: ({ stream }) => Number(stream),
  prompt_tokens: (_, { usage }) => usage?.promptTokens ?? 0,
  completion_tokens: (_, { usage }) => usage?.completionTokens ?? 0,
  cached_tokens: (_, { usage }) => usage?.cachedTokens ?? 0,
  cache_write_tokens: (_, { usage }) => usage?.cacheWriteTokens ?? 0,
  reasoning_tokens: (_, { usage }) => usage?.reasoningTokens ?? 0,
  estimated: (_, { usage }) => Number(usage?.estimated ?? false),
  cost: (_, { cost }) => (cost === undefined ? null : keepable(cost)),
  latency_ms: (_, { latency }) => rounded(latency),
  first_token_ms: (_, { firstToken }) => rounded(firstToken),
  status: (_, { status }) => status,
  error: (_, { error = null }) => error,
  performance_mode: ({ performanceMode = null }) => performanceMode,
  user: ({ user = null }) => user,
  tags: ({ tags }) => textOrNull(tags),
  trace: ({ trace }) => textOrNull(trace),
}

function textOrNull(value: unknown): string | null {
  return value === undefined || value === null ? null : JSON.stringify(value)
}

function rounded(milliseconds: number | undefined): number | null {
  return milliseconds === undefined ? null : Math.round(milliseconds)
}
