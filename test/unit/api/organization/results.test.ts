import { expect, test } from 'bun:test'
import { renderCosts, renderPage, renderUsage } from '../../../../src/api/organization/results.ts'
import type { UsageBucketGroup } from '../../../../src/storage/ports/usage.ts'

const day = 86_400_000
const names = { project: new Map<string, string>(), key: new Map<string, string>() }

function groupOf(start: number, organization: string, cost: bigint | null = 5n): UsageBucketGroup {
  const counts = {
    requests: 1,
    failed: 0,
    clientErrors: 0,
    serverErrors: 0,
    promptTokens: 3,
    completionTokens: 2,
    cachedTokens: 0,
    cacheWriteTokens: 0,
    reasoningTokens: 0,
    unpriced: 0,
  }
  return { start, values: { organization }, totals: { ...counts, cost, latency: null, firstToken: null } }
}

/** The page, and the turns of the event loop that others had meanwhile. */
async function render(days: number, results: number) {
  const groups = Array.from({ length: results }, (_, index) =>
    groupOf((index % days) * day, `org_${index}`),
  ).toSorted((one, other) => one.start - other.start)
  let turns = 0
  let done = false
  const count = () => {
    if (done) return
    turns++
    setImmediate(count)
  }
  setImmediate(count)
  const query = { width: '1d', from: 0, to: days * day, groupBy: ['organization'] } as const
  const parts = await renderPage({ query, next: undefined, batchOnly: false }, groups, (group) =>
    renderUsage(group, names),
  )
  done = true
  return { page: JSON.parse(parts.join('')), turns }
}

test('a page of thousands of results is rendered in turns, in one bucket or in many', async () => {
  for (const days of [1, 30]) {
    const { page, turns } = await render(days, 10_000)
    expect(turns).toBeGreaterThanOrEqual(15)
    expect(page.data).toHaveLength(days)
    expect(page.data.flatMap(({ results }: { results: unknown[] }) => results)).toHaveLength(10_000)
    expect(page.data[0]).toMatchObject({ object: 'bucket', start_time: 0, end_time: 86_400 })
    expect(page).toMatchObject({ object: 'page', has_more: false, next_page: null })
  }
})

test('a page without results, or with few, is rendered at once', async () => {
  const empty = await render(2, 0)
  expect(empty.page.data.map(({ results }: { results: unknown[] }) => results)).toEqual([[], []])
  const { page, turns } = await render(1, 3)
  expect(page.data[0].results[2]).toMatchObject({ organization_id: 'org_2', input_tokens: 3, user_id: null })
  expect([empty.turns, turns]).toEqual([0, 0])
})

test('costs have each digit, however small or large they are', async () => {
  const costs = {
    '0.000000001': 1n,
    '0.000000999': 999n,
    '0.000001': 1000n,
    '0.123456789': 123_456_789n,
    '12.5': 12_500_000_000n,
    '999999.999999999': 999_999_999_999_999n,
    '1000000.000000001': 1_000_000_000_000_001n,
    '123456789012.123456789': 123_456_789_012_123_456_789n,
    '-3.25': -3_250_000_000n,
    null: null,
  }
  const written = Object.values(costs).map((cost) =>
    JSON.stringify(renderCosts(groupOf(0, 'org_1', cost), names)),
  )
  expect(written.map((json) => /"value":([^,]*)/.exec(json)?.[1])).toEqual(Object.keys(costs))
})
