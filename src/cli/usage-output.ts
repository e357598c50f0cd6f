import { formatDuration } from '../lib/time.ts'
import { formatRoundedUsd, formatUsd } from '../lib/usd.ts'
import type {
  Timing,
  UsageGroup,
  UsageGrouping,
  UsageQuery,
  UsageReport,
  UsageSums,
} from '../storage/ports/usage-report.ts'
import { barText, type Column, fittingTable } from './output.ts'

/** Returns a usage report as `--json` prints it. */
export function usageJson(query: UsageQuery, { groups, total }: UsageReport) {
  return {
    organization: query.organization ?? null,
    by: query.by,
    since: new Date(query.since).toISOString(),
    groups: groups.map((group) => ({ ...groupJson(query.by, group), ...sumsJson(group) })),
    total: sumsJson(total),
  }
}

/** Formats a usage report as a table that fits the width, in characters, with the total in the last row. */
export function usageTable(by: UsageGrouping, { groups, total }: UsageReport, width?: number): string {
  const names: readonly Column<UsageGroup>[] =
    by === 'key' ? [{ title: 'NAME', value: ({ name }) => name ?? noValue }] : []
  const title = { title: by.toUpperCase(), value: ({ value }: UsageGroup) => value ?? noValue }
  const totalRow = { ...total, value: 'total', name: '' }
  const maxRequests = Math.max(...groups.map(({ requests }) => requests))
  const bar: Column<UsageGroup> = {
    title: '',
    value: (group) => (group === totalRow ? '' : barText(group.requests / maxRequests, barWidth)),
    dropOrder: 1,
  }
  return [
    fittingTable([...groups, totalRow], [title, ...names, ...sums, bar], width),
    ...unpricedNote(total),
  ].join('\n')
}

const noValue = '-'
const barWidth = 12

/** The least informative columns are dropped first. */
const sums: readonly Column<UsageSums>[] = [
  { title: 'REQUESTS', value: ({ requests }) => countText(requests), align: 'right' },
  { title: 'FAILED', value: ({ failed }) => countText(failed), align: 'right' },
  { title: '4XX', value: ({ clientErrors }) => countText(clientErrors), align: 'right', dropOrder: 5 },
  { title: '5XX', value: ({ serverErrors }) => countText(serverErrors), align: 'right', dropOrder: 5 },
  { title: 'PROMPT', value: ({ promptTokens }) => countText(promptTokens), align: 'right' },
  { title: 'CACHED', value: ({ cachedTokens }) => countText(cachedTokens), align: 'right', dropOrder: 3 },
  { title: 'COMPLETION', value: ({ completionTokens }) => countText(completionTokens), align: 'right' },
  {
    title: 'REASONING',
    value: ({ reasoningTokens }) => countText(reasoningTokens),
    align: 'right',
    dropOrder: 2,
  },
  {
    title: 'COST USD',
    value: ({ cost }) => (cost === null ? noValue : formatRoundedUsd(cost)),
    align: 'right',
  },
  { title: 'P50', value: ({ latency }) => latencyText(latency?.p50), align: 'right', dropOrder: 6 },
  { title: 'P95', value: ({ latency }) => latencyText(latency?.p95), align: 'right', dropOrder: 6 },
  {
    title: 'FIRST P50',
    value: ({ firstToken }) => latencyText(firstToken?.p50),
    align: 'right',
    dropOrder: 4,
  },
  {
    title: 'FIRST P95',
    value: ({ firstToken }) => latencyText(firstToken?.p95),
    align: 'right',
    dropOrder: 4,
  },
]

function countText(value: number): string {
  return value.toLocaleString('en-US')
}

function latencyText(milliseconds: number | undefined): string {
  return milliseconds === undefined ? noValue : formatDuration(milliseconds)
}

function unpricedNote({ unpriced }: UsageSums): string[] {
  if (unpriced === 0) return []
  return [
    '',
    `The cost of ${countText(unpriced)} of the requests is unknown, because their models have no price.`,
  ]
}

function groupJson(by: UsageGrouping, { value, name }: UsageGroup) {
  if (by === 'key') return { key: value, name }
  return { [by === 'org' ? 'organization' : by]: value }
}

function sumsJson(sums: UsageSums) {
  const { requests, failed, clientErrors, serverErrors } = sums
  return {
    requests,
    failed,
    errors: { '4xx': clientErrors, '5xx': serverErrors, other: failed - clientErrors - serverErrors },
    prompt_tokens: sums.promptTokens,
    completion_tokens: sums.completionTokens,
    cached_tokens: sums.cachedTokens,
    reasoning_tokens: sums.reasoningTokens,
    cost_usd: sums.cost === null ? null : formatUsd(sums.cost),
    unpriced_requests: sums.unpriced,
    latency_ms: timingJson(sums.latency),
    first_token_ms: timingJson(sums.firstToken),
  }
}

function timingJson(timing: Timing | null): Timing | { readonly p50: null; readonly p95: null } {
  return timing ?? { p50: null, p95: null }
}
