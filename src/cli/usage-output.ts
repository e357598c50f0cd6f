import { type CsvValue, csvLine } from '../lib/csv.ts'
import { isoTimeOrNull, formatDuration } from '../lib/time.ts'
import { formatRoundedUsd, formatUsd } from '../lib/usd.ts'
import type {
  Timing,
  UsageGroup,
  UsageGrouping,
  UsageQuery,
  UsageReport,
  UsageSums,
} from '../storage/ports/usage.ts'
import { barText, type Column, fittingTable, rightColumn } from './output.ts'

/** Returns a usage report as `--json` prints it. */
export function usageJson(query: UsageQuery, { groups, total }: UsageReport) {
  return {
    organization: query.organization ?? null,
    by: query.by.length === 1 ? query.by[0] : query.by,
    since: new Date(query.since).toISOString(),
    until: isoTimeOrNull(query.until),
    groups: groups.map((group) => ({ ...groupJson(query.by, group), ...sumsJson(group) })),
    total: sumsJson(total),
  }
}

/** Returns the groups of a usage report as CSV, with the names of the columns as `--json` has them. */
export function usageCsv(by: readonly UsageGrouping[], { groups, total }: UsageReport): string {
  const named = groupColumns(by)
  const lines = groups.map((group) => {
    const fields: Readonly<Record<string, CsvValue>> = groupJson(by, group)
    return [...named.map((name) => fields[name]), ...Object.values(figures(group))]
  })
  return [[...named, ...Object.keys(figures(total))], ...lines].map(csvLine).join('\n')
}

function groupColumns(by: readonly UsageGrouping[]): readonly string[] {
  const names = { project: 'project_name', key: 'name' } as const
  const columns = by.map((grouping) => (grouping === 'org' ? 'organization' : grouping))
  const added = (['project', 'key'] as const).filter((grouping) => by.includes(grouping))
  return [...columns, ...added.map((grouping) => names[grouping])]
}

/** The sums of `--json`, without objects. */
function figures(sums: UsageSums): Readonly<Record<string, CsvValue>> {
  const { errors, latency_ms: latency, first_token_ms: firstToken, ...rest } = sumsJson(sums)
  return {
    ...rest,
    errors_4xx: errors['4xx'],
    errors_5xx: errors['5xx'],
    errors_other: errors.other,
    latency_ms_p50: latency.p50,
    latency_ms_p95: latency.p95,
    first_token_ms_p50: firstToken.p50,
    first_token_ms_p95: firstToken.p95,
  }
}

/** Formats a usage report as a table that fits the width, in characters, with the total in the last row. */
export function usageTable(
  by: readonly UsageGrouping[],
  { groups, total }: UsageReport,
  width?: number,
): string {
  const names = by.flatMap((grouping, index): Column<UsageGroup>[] => {
    const column = {
      title: grouping.toUpperCase(),
      value: ({ values }: UsageGroup) => values[index] ?? noValue,
    }
    if (grouping !== 'key' && grouping !== 'project') return [column]
    return [column, { title: 'NAME', value: ({ names }: UsageGroup) => names[grouping] ?? noValue }]
  })
  const totalRow = {
    ...total,
    values: ['total', ...by.slice(1).map(() => '')],
    names: { project: '', key: '' },
  }
  const maxRequests = Math.max(...groups.map(({ requests }) => requests))
  const bar: Column<UsageGroup> = {
    title: '',
    value: (group) => (group === totalRow ? '' : barText(group.requests / maxRequests, barWidth)),
    dropOrder: 1,
  }
  return [fittingTable([...groups, totalRow], [...names, ...sums, bar], width), ...unpricedNote(total)].join(
    '\n',
  )
}

const noValue = '-'
const barWidth = 12

/** The least informative columns are dropped first. */
const sums: readonly Column<UsageSums>[] = [
  rightColumn('REQUESTS', ({ requests }) => countText(requests)),
  rightColumn('FAILED', ({ failed }) => countText(failed)),
  rightColumn('4XX', ({ clientErrors }) => countText(clientErrors), 5),
  rightColumn('5XX', ({ serverErrors }) => countText(serverErrors), 5),
  rightColumn('PROMPT', ({ promptTokens }) => countText(promptTokens)),
  rightColumn('CACHED', ({ cachedTokens }) => countText(cachedTokens), 3),
  rightColumn('COMPLETION', ({ completionTokens }) => countText(completionTokens)),
  rightColumn('REASONING', ({ reasoningTokens }) => countText(reasoningTokens), 2),
  rightColumn('COST USD', ({ cost }) => (cost === null ? noValue : formatRoundedUsd(cost))),
  rightColumn('P50', ({ latency }) => latencyText(latency?.p50), 6),
  rightColumn('P95', ({ latency }) => latencyText(latency?.p95), 6),
  rightColumn('FIRST P50', ({ firstToken }) => latencyText(firstToken?.p50), 4),
  rightColumn('FIRST P95', ({ firstToken }) => latencyText(firstToken?.p95), 4),
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

function groupJson(by: readonly UsageGrouping[], { values, names }: UsageGroup) {
  const fields = by.map((grouping, index) => [
    grouping === 'org' ? 'organization' : grouping,
    values[index] ?? null,
  ])
  const { project, key } = names
  return {
    ...Object.fromEntries(fields),
    ...(project !== undefined && { project_name: project }),
    ...(key !== undefined && { name: key }),
  }
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
