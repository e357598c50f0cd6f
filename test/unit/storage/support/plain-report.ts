import type {
  UsageBucketGroup,
  UsageBucketQuery,
  UsageDimension,
} from '../../../../src/storage/ports/usage.ts'
import type { TestStore } from './stores.ts'

type Row = Readonly<Record<string, unknown>>

const dayMs = 86_400_000

/** The part of a report that `plainReport` computes, in an order of its own. */
export function comparable(groups: readonly UsageBucketGroup[]): readonly unknown[] {
  const compared = groups.map(({ start, values, totals }) => {
    const { requests, failed, promptTokens, cachedTokens, unpriced, cost, latency, firstToken } = totals
    return {
      start,
      values,
      requests,
      failed,
      promptTokens,
      cachedTokens,
      unpriced,
      cost,
      latency,
      firstToken,
    }
  })
  return compared.toSorted((one, other) => (placeOf(one) < placeOf(other) ? -1 : 1))
}

/** The rows of `usage` that reports count. */
export function countedRows(store: TestStore): Promise<readonly Row[]> {
  return store.rows(
    'SELECT u.* FROM usage u JOIN organizations o ON o.id = u.organization_id WHERE o.deletion IS NULL',
  )
}

/** The same as a report says, computed from the rows, one after the other. */
export function plainReport(
  rows: readonly Row[],
  { from, to = Infinity, width, groupBy, organizations, models, users, tags }: UsageBucketQuery,
): readonly unknown[] {
  const selected = rows.filter(
    (row) =>
      isWithin(row, from, to) &&
      (organizations?.includes(String(row.organization_id)) ?? true) &&
      (models?.includes(String(row.model)) ?? true) &&
      (users?.includes(String(row.user)) ?? true) &&
      (tags?.some((tag) => tagsOf(row).includes(tag)) ?? true),
  )
  const counted = groupBy.includes('tag') ? selected.flatMap((row) => byTag(row, tags)) : selected
  const groups = Map.groupBy(counted, (row) => {
    const start = width === '1d' ? Math.floor(Number(row.created_at) / dayMs) * dayMs : 0
    const values = groupBy.map((name) => [name, row[columns[name] ?? '']])
    return JSON.stringify({ start, values: Object.fromEntries(values) })
  })
  return [...groups]
    .map(([key, found]) => ({ ...JSON.parse(key), ...sumsOf(found) }))
    .toSorted((one, other) => (placeOf(one) < placeOf(other) ? -1 : 1))
}

const columns: Partial<Record<UsageDimension, string>> = {
  organization: 'organization_id',
  api: 'api',
  model: 'model',
  provider: 'provider',
  user: 'user',
  session: 'session',
  tag: 'tag',
}

function tagsOf({ tags }: Row): readonly string[] {
  return tags === null ? [] : [...new Set<string>(JSON.parse(String(tags)))]
}

/** The row of a request for each of its tags, or one without a tag. */
function byTag(row: Row, wanted: readonly string[] | undefined): readonly Row[] {
  const tags = tagsOf(row)
  if (tags.length === 0) return [{ ...row, tag: null }]
  return tags.filter((tag) => wanted?.includes(tag) ?? true).map((tag) => ({ ...row, tag }))
}

function placeOf({ start, values }: Pick<UsageBucketGroup, 'start' | 'values'>): string {
  return JSON.stringify([start, values])
}

function isWithin(row: Row, from: number, to: number): boolean {
  return Number(row.created_at) >= from && Number(row.created_at) < to
}

function sumsOf(rows: readonly Row[]) {
  const sumOf = (column: string) => rows.reduce((sum, row) => sum + Number(row[column]), 0)
  const failed = rows.filter(hasFailed)
  const succeeded = rows.filter((row) => !hasFailed(row))
  const unpriced = rows.filter((row) => row.cost === null && hasTokens(row)).length
  const isPriced = unpriced === 0 || rows.some((row) => row.cost !== null && hasTokens(row))
  return {
    requests: rows.length,
    failed: failed.length,
    promptTokens: sumOf('prompt_tokens'),
    cachedTokens: sumOf('cached_tokens'),
    unpriced,
    cost: isPriced ? BigInt(sumOf('cost')) : null,
    latency: percentilesOf(succeeded, 'latency_ms'),
    firstToken: percentilesOf(succeeded, 'first_token_ms'),
  }
}

function hasTokens(row: Row): boolean {
  return Number(row.prompt_tokens) + Number(row.completion_tokens) > 0
}

function hasFailed({ error, status }: Row): boolean {
  return error !== null || Number(status) < 200 || Number(status) > 299
}

/** By the nearest rank, of times that are rounded down to two digits. */
function percentilesOf(rows: readonly Row[], column: string) {
  const times = rows
    .flatMap((row) => (row[column] === null ? [] : [twoDigits(Number(row[column]))]))
    .toSorted((one, other) => one - other)
  if (times.length === 0) return null
  const at = (share: number) => times[Math.ceil(times.length * share) - 1]
  return { p50: at(0.5), p95: at(0.95) }
}

function twoDigits(time: number): number {
  const unit = 10 ** Math.max(0, String(time).length - 2)
  return Math.floor(time / unit) * unit
}
