import { describe, expect, test } from 'bun:test'
import { type UsageGrouping, usageGroupings } from '../../../src/storage/ports/usage.ts'
import type { BillingScenario } from '../../support/billing-scenario.ts'
import { chatOutput, jsonReply } from '../../support/chat-fixtures.ts'
import { chatRequest } from '../../support/scenario.ts'
import { requestAdmin, startAdmin } from '../support/admin.ts'
import { costsPath, readReport, type ReportQuery, resultsOf, usagePath } from '../support/usage-reports.ts'

/** Requests of two projects and of none, of which one has moved, by some users in some sessions; each has another cost. */
async function startAttributed() {
  const replies = Array.from({ length: 24 }, (_, index) =>
    jsonReply(chatOutput({}, { usage: { prompt_tokens: 7 + index, completion_tokens: 3 * index } })),
  )
  const paid = await startAdmin(replies, { balance: '5' })
  const { app, billing } = paid
  const create = async (path: string, body: object) =>
    (await requestAdmin(app, 'POST', path, { body: { organization: 'default', ...body } })).body
  const search = String((await create('projects', { name: 'search' })).id)
  const index = String((await create('projects', { name: 'index' })).id)
  const keys = [
    await create('keys', { name: 'a', project: search }),
    await create('keys', { name: 'b', project: index }),
    await create('keys', { name: 'c' }),
  ]
  for (let count = 0; count < replies.length; count++) {
    if (count === 12)
      await requestAdmin(app, 'PATCH', `keys/${String(keys[0]?.id)}`, { body: { project: index } })
    const headers = {
      authorization: `Bearer ${String(keys[count % 3]?.key)}`,
      ...(count % 4 > 0 && { 'x-openwebui-user-id': `user-${count % 5}` }),
      ...(count % 6 > 1 && { 'x-session-id': `session-${count % 4}` }),
      ...(count % 2 > 0 && { 'x-weir-tags': count % 3 > 0 ? 'red,blue' : 'red' }),
    }
    const reply = await app.chat({ ...chatRequest, ...(count === 20 && { model: 'acme/sea' }) }, { headers })
    await reply.arrayBuffer()
  }
  await billing.waitForUsage(replies.length)
  // Requests of the last minute are not part of the totals yet.
  await billing.rows('UPDATE usage SET created_at = created_at - 7200000')
  return { paid, search, index, keys: keys.map(({ id }) => String(id)) }
}

/** What the ledger has charged, in nano-dollars. */
async function chargedBy({ billing }: BillingScenario): Promise<bigint> {
  const charges = (await billing.entries()).filter(([kind]) => kind === 'charge')
  return charges.reduce((sum, [, amount]) => sum - BigInt(amount ?? 0), 0n)
}

async function costOf({ app }: BillingScenario, query: ReportQuery): Promise<bigint> {
  const results = resultsOf(await readReport(app, costsPath, { limit: 2, ...query }))
  const nanos = results.map(({ amount }) =>
    Math.round(Number((amount as { readonly value: number }).value) * 1e9),
  )
  return nanos.reduce((sum, value) => sum + BigInt(value), 0n)
}

const groupingsOnce = usageGroupings.filter((by) => by !== 'tag')
const fields = ['project_id', 'api_key_id', 'user_id', 'session_id', 'model', 'provider', 'error'] as const

describe('the costs', () => {
  test('by project, key, user, session and all else add up to the ledger, on the command line and in the API', async () => {
    const { paid, search, index } = await startAttributed()
    await using _ = paid
    const charged = await chargedBy(paid)
    expect(charged).toBeGreaterThan(0n)
    for (const state of ['rows', 'totals']) {
      const reports: readonly (readonly UsageGrouping[])[] = [
        ...groupingsOnce.map((by) => [by]),
        ['project', 'user', 'session', 'error'],
      ]
      for (const by of reports) {
        const { groups, total } = await paid.billing.report({ by, since: 0 })
        const costs = groups.map(({ cost }) => cost ?? 0n)
        expect([state, by, costs.reduce((sum, cost) => sum + cost, 0n), total.cost]).toEqual([
          state,
          by,
          charged,
          charged,
        ])
        expect(groups.reduce((sum, { requests }) => sum + requests, 0)).toBe(24)
      }
      for (const field of fields)
        expect([field, await costOf(paid, { group_by: field })]).toEqual([field, charged])
      const byProject = await paid.billing.report({ by: ['project'], since: 0 })
      const names = byProject.groups.map(({ values, names, requests }) => [
        values[0],
        names.project,
        requests,
      ])
      expect(names.toSorted()).toEqual(
        [
          [search, 'search', 4],
          [index, 'index', 12],
          [null, null, 8],
        ].toSorted(),
      )
      const byBoth = await readReport(paid.app, usagePath, {
        limit: 2,
        group_by: ['project_id', 'api_key_id'],
      })
      const found = resultsOf(byBoth).map((one) =>
        [one.project_id, one.project_name, one.api_key_name].join(),
      )
      const expected = [`${search},search,a`, `${index},index,a`, `${index},index,b`, ',,c']
      expect([...new Set(found)].toSorted()).toEqual(expected.toSorted())
      while ((await paid.billing.rollUp()) > 0);
    }
  })

  test('of a filter are those of its groups', async () => {
    const { paid, search, keys } = await startAttributed()
    await using _ = paid
    const cost = (query: ReportQuery) => costOf(paid, query)
    const groupsOf = async (field: string, query: ReportQuery = {}) =>
      resultsOf(await readReport(paid.app, usagePath, { limit: 2, group_by: field, ...query })).map(
        (result) => result[field],
      )
    const users = await Promise.all([1, 2, 3, 4, 0].map((user) => cost({ user_ids: `user-${user}` })))
    const none = (await chargedBy(paid)) - users.reduce((sum, value) => sum + value, 0n)
    expect(await cost({ user_ids: ['user-0', 'user-1', 'user-2', 'user-3', 'user-4', 'x'] })).toBe(
      (await chargedBy(paid)) - none,
    )
    expect(none).toBeGreaterThan(0n)
    expect(await groupsOf('api_key_id', { project_ids: search })).toEqual([keys[0]])
    expect(await groupsOf('user_id', { session_ids: 'session-2', user_ids: ['user-1', 'user-2'] })).toEqual([
      'user-2',
    ])
    expect(await groupsOf('tag', { tags: 'blue' })).toEqual(['blue'])
    // A request with both tags counts once.
    expect(await cost({ tags: ['red', 'blue'] })).toBe(await cost({ tags: 'red' }))
    expect(await groupsOf('project_id', { project_ids: 'proj_of_others' })).toEqual([])
  })
})
