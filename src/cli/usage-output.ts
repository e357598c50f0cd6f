import { usdText } from '../lib/usd.ts'
import type {
  UsageGroup,
  UsageGrouping,
  UsageQuestion,
  UsageReport,
  UsageSums,
} from '../storage/usage-report.ts'
import { type Column, table } from './output.ts'

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

/** What requests took, as a table for people, with the total below. */
export function usageTable(by: UsageGrouping, { groups, total }: UsageReport): string {
  const names: readonly Column<UsageGroup>[] =
    by === 'key' ? [{ title: 'NAME', value: ({ name }) => name ?? none }] : []
  const title = { title: by.toUpperCase(), value: ({ value }: UsageGroup) => value ?? none }
  return table([...groups, { ...total, value: 'total', name: '' }], [title, ...names, ...sums])
}

const none = '-'

const sums: readonly Column<UsageSums>[] = [
  { title: 'REQUESTS', value: ({ requests }) => count(requests), align: 'right' },
  { title: 'FAILED', value: ({ failed }) => count(failed), align: 'right' },
  { title: 'PROMPT', value: ({ promptTokens }) => count(promptTokens), align: 'right' },
  { title: 'CACHED', value: ({ cachedTokens }) => count(cachedTokens), align: 'right' },
  { title: 'COMPLETION', value: ({ completionTokens }) => count(completionTokens), align: 'right' },
  { title: 'REASONING', value: ({ reasoningTokens }) => count(reasoningTokens), align: 'right' },
  { title: 'COST USD', value: ({ cost }) => usdText(cost), align: 'right' },
]

function count(value: number): string {
  return value.toLocaleString('en-US')
}

function groupJson(by: UsageGrouping, { value, name }: UsageGroup) {
  if (by === 'key') return { key: value, name }
  return { [by === 'org' ? 'organization' : by]: value }
}

function sumsJson(sums: UsageSums) {
  return {
    requests: sums.requests,
    failed: sums.failed,
    prompt_tokens: sums.promptTokens,
    completion_tokens: sums.completionTokens,
    cached_tokens: sums.cachedTokens,
    reasoning_tokens: sums.reasoningTokens,
    cost_usd: usdText(sums.cost),
  }
}
