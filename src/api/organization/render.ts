import { exactNumber } from '../../lib/json/json.ts'
import { formatUsd } from '../../lib/usd.ts'
import { bucketWidths, type UsageBucketGroup } from '../../storage/ports/usage.ts'
import { pageToken, type ReportPage } from './query.ts'
import type { CostsResult, UsageResult } from './schema.ts'

/** Renders a page of a report: each bucket of the page, with the results of its groups. */
export function renderPage<Result>(
  { query, next }: ReportPage,
  groups: readonly UsageBucketGroup[],
  renderResult: (group: UsageBucketGroup) => Result,
) {
  const { width, from, to } = query
  const byStart = Map.groupBy(groups, ({ start }) => start)
  const starts = Array.from(
    { length: (to - from) / bucketWidths[width] },
    (_, index) => from + index * bucketWidths[width],
  )
  return {
    object: 'page',
    data: starts.map((start) => ({
      object: 'bucket',
      start_time: start / 1000,
      end_time: (start + bucketWidths[width]) / 1000,
      results: (byStart.get(start) ?? []).map(renderResult),
    })),
    has_more: next !== undefined,
    next_page: next === undefined ? null : pageToken(next),
  }
}

/** Renders the usage of a group. */
export function renderUsage({ values, totals }: UsageBucketGroup, names: Names): UsageResult {
  return {
    object: 'organization.usage.completions.result',
    input_tokens: totals.promptTokens,
    output_tokens: totals.completionTokens,
    input_cached_tokens: totals.cachedTokens,
    input_cache_write_tokens: totals.cacheWriteTokens,
    input_audio_tokens: 0,
    output_audio_tokens: 0,
    output_reasoning_tokens: totals.reasoningTokens,
    num_model_requests: totals.requests,
    num_failed_requests: totals.failed,
    num_client_errors: totals.clientErrors,
    num_server_errors: totals.serverErrors,
    latency_ms: totals.latency,
    first_token_ms: totals.firstToken,
    batch: null,
    ...renderValues(values, names),
  }
}

/** Renders the cost of a group. */
export function renderCosts({ values, totals }: UsageBucketGroup, names: Names): CostsResult {
  return {
    object: 'organization.costs.result',
    amount: {
      value: totals.cost === null ? null : exactNumber(formatUsd(totals.cost)),
      currency: 'usd',
    },
    num_model_requests: totals.requests,
    num_unpriced_requests: totals.unpriced,
    line_item: null,
    ...renderValues(values, names),
  }
}

/** The names of the projects and the keys of a report, by their ids. */
export type Names = Readonly<Record<'project' | 'key', ReadonlyMap<string, string>>>

function renderValues(values: UsageBucketGroup['values'], names: Names) {
  return {
    organization_id: values.organization ?? null,
    project_id: values.project ?? null,
    project_name: names.project.get(values.project ?? '') ?? null,
    user_id: values.user ?? null,
    api_key_id: values.key ?? null,
    api_key_name: names.key.get(values.key ?? '') ?? null,
    model: values.model ?? null,
    provider: values.provider ?? null,
    api: values.api ?? null,
    session_id: values.session ?? null,
    tag: values.tag ?? null,
    error: values.error ?? null,
  }
}
