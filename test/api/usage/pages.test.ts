import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { BillingScenario } from '../../support/billing-scenario.ts'
import { fillUsage } from '../../support/usage-rows.ts'
import {
  costsPath,
  day,
  organizationId,
  readReport,
  type ReportQuery,
  requestReport,
  type ReportScenario,
  resultsOf,
  startReports,
  usagePath,
} from '../support/usage-reports.ts'

/** Midnight, ten days before today. */
const to = Math.floor(Date.now() / day) * day
const from = to - 10 * day
const period = { start_time: from / 1000, end_time: to / 1000 }

/** A gateway with 20,000 usage rows of two organizations over ten days. */
let filled: ReportScenario
beforeAll(async () => {
  filled = await startReports()
  const { paid } = filled
  const organizations = [await organizationId(paid, 'default'), await organizationId(paid, 'globex')]
  await fillUsage(paid.billing, { rows: 20_000, from, to, organizations })
})
afterAll(() => filled[Symbol.asyncDispose]())

/** Adds all rows to the totals, as a gateway does in the course of a minute. */
async function addToTotals({ billing }: BillingScenario): Promise<void> {
  while ((await billing.rollUp()) > 0);
}

const figures = [
  'requests',
  'failed',
  'promptTokens',
  'completionTokens',
  'cachedTokens',
  'reasoningTokens',
] as const
const fields = [
  'num_model_requests',
  'num_failed_requests',
  'input_tokens',
  'output_tokens',
  'input_cached_tokens',
  'output_reasoning_tokens',
]

/** What the command line reports for the same period, by value. */
async function expectedFor(
  { billing }: BillingScenario,
  by: 'model' | 'key' | 'provider' | 'tag' | 'project' | 'user' | 'session',
): Promise<unknown> {
  const { groups } = await billing.report({ by: [by], since: from, until: to })
  return sorted(groups.map((group) => [group.values[0] ?? null, ...figures.map((figure) => group[figure])]))
}

/** The sums of all pages of a report, by value. */
async function reported(
  { paid, admin }: ReportScenario,
  field: string,
  query: ReportQuery,
): Promise<unknown> {
  const sums = new Map<unknown, number[]>()
  for (let page: string | null | undefined; page !== null;) {
    const body = await readReport(paid.app, usagePath, { ...period, ...query, page }, admin)
    for (const result of resultsOf(body)) {
      const known = sums.get(result[field]) ?? []
      const added = fields.map((name, index) => (known[index] ?? 0) + Number(result[name]))
      sums.set(result[field], added)
    }
    page = body.next_page
  }
  return sorted([...sums].map(([value, added]) => [value, ...added]))
}

function sorted(rows: readonly (readonly unknown[])[]): unknown {
  return rows.toSorted(([one], [other]) => (String(one) < String(other) ? -1 : 1))
}

describe.each([['before'], ['after']])('%s they are added to the totals, 20,000 requests', (state) => {
  beforeAll(async () => {
    if (state === 'after') await addToTotals(filled.paid)
  })

  test.each([
    ['model', 'model'],
    ['key', 'api_key_id'],
    ['provider', 'provider'],
    ['tag', 'tag'],
    ['project', 'project_id'],
    ['user', 'user_id'],
    ['session', 'session_id'],
  ] as const)('by %s are the same in pages of days and hours as on the command line', async (by, field) => {
    const expected = await expectedFor(filled.paid, by)
    const pages = { '1d': 3, '1h': 100 }
    for (const [bucket_width, limit] of Object.entries(pages))
      expect(await reported(filled, field, { bucket_width, limit, group_by: field })).toEqual(expected)
  })

  test('have the same costs in days as on the command line', async () => {
    const { paid, admin } = filled
    const { total } = await paid.billing.report({ by: ['model'], since: from, until: to })
    const costs = resultsOf(await readReport(paid.app, costsPath, { ...period, limit: 10 }, admin))
    const nanos = costs.map(({ amount }) => Math.round((amount as { readonly value: number }).value * 1e9))
    expect(costs.length).toBe(10)
    expect(BigInt(nanos.reduce((sum, value) => sum + value, 0))).toBe(total.cost ?? -1n)
  })
})

test('each bucket has the whole of its minute, hour or day, and those without requests are empty', async () => {
  const { paid, admin } = filled
  const query = { start_time: from / 1000 - 30, end_time: from / 1000 + 61, bucket_width: '1m' }
  const { data } = await readReport(paid.app, usagePath, query, admin)
  expect(data.map(({ start_time, end_time }) => [start_time - from / 1000, end_time - start_time])).toEqual([
    [-60, 60],
    [0, 60],
    [60, 60],
  ])
  // A row each 43.2 seconds.
  expect(data.map(({ results }) => results[0]?.num_model_requests)).toEqual([undefined, 2, 1])
})

test.each([
  ['a group that does not exist', { group_by: 'colour' }, 'group_by'],
  ['a user that no database stores', { user_ids: 'a\0' }, 'user_ids'],
  ['an unknown width', { bucket_width: '1w' }, 'bucket_width'],
  ['no buckets', { limit: 0 }, 'limit'],
  ['too many days', { limit: 32 }, 'limit'],
  ['too many hours', { limit: 169, bucket_width: '1h' }, 'limit'],
  ['too many minutes', { limit: 1441, bucket_width: '1m' }, 'limit'],
  ['a limit beyond numbers', { limit: '9'.repeat(400) }, 'limit'],
  ['a start before 1970', { start_time: -1 }, 'start_time'],
  ['a start after the year 9999', { start_time: 253_402_300_800 }, 'start_time'],
  ['a start that is no number', { start_time: 'yesterday' }, 'start_time'],
  ['an end before the start', { start_time: 864_000, end_time: 86_400 }, 'end_time'],
  ['a page of another form', { page: 'page_' }, 'page'],
  ['a page before the start', { start_time: 864_000, page: 'page_0' }, 'page'],
  ['a page within a bucket', { start_time: 0, page: 'page_1' }, 'page'],
  ['a page after the end', { start_time: 0, end_time: 86_400, page: 'page_zzzzzzzzz' }, 'page'],
  ['more models than a list may have', { models: Array.from({ length: 101 }, String) }, 'models'],
] as const)(
  'a report with %s is rejected with 400 and the name of the parameter',
  async (_, query, param) => {
    const reply = await requestReport(filled.paid.app, usagePath, query)
    expect([reply.status, await reply.json()]).toEqual([400, { error: expect.objectContaining({ param }) }])
  },
)

test('a report of all time is read page by page, and each page is small', async () => {
  const { paid, admin } = filled
  const query = { start_time: 0, end_time: 253_402_300_799, bucket_width: '1m', limit: 1440 }
  const first = await readReport(paid.app, usagePath, query, admin)
  expect([first.data.length, first.has_more, resultsOf(first)]).toEqual([1440, true, []])
  const second = await readReport(paid.app, usagePath, { ...query, page: first.next_page }, admin)
  expect(second.data[0]?.start_time).toBe(86_400)
})

test('a report with more results than fit is rejected, and other requests are served while several are read', async () => {
  const { paid, admin } = filled
  await paid.billing.rows('UPDATE usage SET "user" = id')
  // Almost 2,000 results a day, and at most 10,000. With the models, the rows are read.
  const models = Array.from({ length: 8 }, (_, index) => `acme/m${index}`)
  const many = { ...period, end_time: (from + 6 * day) / 1000, limit: 31, group_by: 'user_id', models }
  const replies = Array.from({ length: 2 }, () => requestReport(paid.app, usagePath, many, admin))
  expect((await paid.app.request('/livez')).status).toBe(200)
  expect((await Promise.all(replies)).map(({ status }) => status)).toEqual([400, 400])
  // The users of one organization do not keep another one from its report.
  const own = await organizationId(paid, 'default')
  await paid.billing.rows(`UPDATE usage SET "user" = 'ada' WHERE organization_id = ?`, own)
  const whole = { ...many, end_time: to / 1000 }
  expect((await requestReport(paid.app, usagePath, whole, admin)).status).toBe(400)
  const results = resultsOf(await readReport(paid.app, usagePath, whole))
  expect(results.map(({ user_id }) => user_id)).toEqual(Array.from({ length: 10 }, () => 'ada'))
})
