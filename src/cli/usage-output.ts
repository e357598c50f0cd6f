import { durationText } from '../lib/duration-text.ts'
import { roundedUsd, usdText } from '../lib/usd.ts'
import type {
  Timing,
  UsageGroup,
  UsageGrouping,
  UsageQuestion,
  UsageReport,
  UsageSums,
} from '../storage/ports/usage-report.ts'
import { barText } from './bar.ts'
import { type Column, fittingTable } from './output.ts'

/** What requests took, as `--json` prints it. */
export function usageJson(question: UsageQuestion, { groups, total }: UsageReport) {
  return {
    organization: question.organization ?? null,
    by: question.by,
    since: new Date(question.since).toISOString(),
    groups: groups.map((group) => ({ ...groupJson(question.by, group), ...sumsJson(group) })),
    total: sumsJson(total),
  }
}

/** What requests took, as a table for people that fits into so many columns, with the total below. */
export function usageTable(by: UsageGrouping, { groups, total }: UsageReport, width?: number): string {
  const names: readonly Column<UsageGroup>[] =
    by === 'key' ? [{ title: 'NAME', value: ({ name }) => name ?? none }] : []
  const title = { title: by.toUpperCase(), value: ({ value }: UsageGroup) => value ?? none }
  const sum = { ...total, value: 'total', name: '' }
  const most = Math.max(...groups.map(({ requests }) => requests))
  const bar: Column<UsageGroup> = {
    title: '',
    value: (group) => (group === sum ? '' : barText(group.requests / most, barWidth)),
    dropped: 1,
  }
  return [
    fittingTable([...groups, sum], [title, ...names, ...sums, bar], width),
    ...unpricedNote(total),
  ].join('\n')
}

const none = '-'
const barWidth = 12

/** The columns that are dropped first where the table is too wide are those that say least. */
const sums: readonly Column<UsageSums>[] = [
  { title: 'REQUESTS', value: ({ requests }) => count(requests), align: 'right' },
  { title: 'FAILED', value: ({ failed }) => count(failed), align: 'right' },
  { title: '4XX', value: ({ clientErrors }) => count(clientErrors), align: 'right', dropped: 5 },
  { title: '5XX', value: ({ serverErrors }) => count(serverErrors), align: 'right', dropped: 5 },
  { title: 'PROMPT', value: ({ promptTokens }) => count(promptTokens), align: 'right' },
  { title: 'CACHED', value: ({ cachedTokens }) => count(cachedTokens), align: 'right', dropped: 3 },
  { title: 'COMPLETION', value: ({ completionTokens }) => count(completionTokens), align: 'right' },
  { title: 'REASONING', value: ({ reasoningTokens }) => count(reasoningTokens), align: 'right', dropped: 2 },
  { title: 'COST USD', value: ({ cost }) => (cost === null ? none : roundedUsd(cost)), align: 'right' },
  { title: 'P50', value: ({ latency }) => time(latency?.p50), align: 'right', dropped: 6 },
  { title: 'P95', value: ({ latency }) => time(latency?.p95), align: 'right', dropped: 6 },
  { title: 'FIRST P50', value: ({ firstToken }) => time(firstToken?.p50), align: 'right', dropped: 4 },
  { title: 'FIRST P95', value: ({ firstToken }) => time(firstToken?.p95), align: 'right', dropped: 4 },
]

function count(value: number): string {
  return value.toLocaleString('en-US')
}

function time(milliseconds: number | undefined): string {
  return milliseconds === undefined ? none : durationText(milliseconds)
}

function unpricedNote({ unpriced }: UsageSums): string[] {
  if (unpriced === 0) return []
  return ['', `The cost of ${count(unpriced)} of the requests is unknown: their models have no prices.`]
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
    cost_usd: sums.cost === null ? null : usdText(sums.cost),
    unpriced_requests: sums.unpriced,
    latency_ms: timingJson(sums.latency),
    first_token_ms: timingJson(sums.firstToken),
  }
}

function timingJson(timing: Timing | null): Timing | { readonly p50: null; readonly p95: null } {
  return timing ?? { p50: null, p95: null }
}
