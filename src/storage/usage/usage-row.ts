import type { Outcome, RequestMetadata } from '../../domain/accounting/request-metadata.ts'
import { clampToColumn } from '../common/store-limits.ts'
import type { usage } from '../schema/usage.ts'

/** A value of a row of `usage`; booleans are 0 and 1. */
export type UsageValue = string | number | bigint | null

/** A column of `usage`. */
export type UsageColumn = keyof typeof usage.$inferSelect

/** The value of each column of the row of a request in the `usage` table. */
export const usageRow: Readonly<
  Record<UsageColumn, (request: RequestMetadata, outcome: Outcome) => UsageValue>
> = {
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
  cost: (_, { cost }) => (cost === undefined ? null : clampToColumn(cost)),
  latency_ms: (_, { latency }) => rounded(latency),
  first_token_ms: (_, { firstToken }) => rounded(firstToken),
  status: (_, { status }) => status,
  error: (_, { error = null }) => error,
  performance_mode: ({ performanceMode = null }) => performanceMode,
  user: ({ user = null }) => user,
  tags: ({ tags }) => textOrNull(tags),
  trace: ({ trace }) => textOrNull(trace),
  project_id: ({ project = null }) => project,
  session: ({ session = null }) => session,
  details: (_, { details }) => textOrNull(details),
}

function textOrNull(value: unknown): string | null {
  return value === undefined || value === null ? null : JSON.stringify(value)
}

function rounded(milliseconds: number | undefined): number | null {
  return milliseconds === undefined ? null : Math.round(milliseconds)
}
