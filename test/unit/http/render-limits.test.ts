import { expect, test } from 'bun:test'
import { noLimits } from '../../../src/domain/accounting/allowance.ts'
import { readBudgetStates, renderLimits } from '../../../src/http/render-limits.ts'
import { createManagedStores } from '../../../src/storage/scripts/managed-stores.ts'
import { createScriptRunner } from '../../../src/storage/sqlite/script-runner.ts'
import { testStorage } from '../storage/support/folder.ts'
import { testActor } from '../../support/actor.ts'

const now = Date.parse('2026-11-25T18:00:00Z')
const daily = { ...noLimits, budget: 5_000_000_000n, budgetPeriod: 'day' } as const
const today = Date.parse('2026-11-25T00:00:00Z')

async function twoOrganizations() {
  const { database, writer } = testStorage()
  const { organizations, budgets } = createManagedStores(createScriptRunner(database, writer), testActor)
  const [acme, other] = [await organizations.create('acme'), await organizations.create('other')]
  const spend = (organizationId: string, owner: string, start: number, amounts: string) =>
    database.sqlite.run(
      `INSERT INTO budgets (owner_id, start, organization_id, spent, reserved, held, allocated)
       VALUES ('${owner}', ${start}, '${organizationId}', ${amounts})`,
    )
  return { budgets, acme: acme.id, other: other.id, spend }
}

test('what is left of budgets is read for owners of several organizations, in their order', async () => {
  const { budgets, acme, other, spend } = await twoOrganizations()
  spend(acme, 'a', today, '1000000001, 2, 3, 4')
  spend(other, 'b', 0, '6000000000, 0, 0, 0')
  const owners = [
    { organizationId: other, owner: 'b', limits: { ...daily, budgetPeriod: 'none' as const } },
    { organizationId: acme, owner: 'unlimited', limits: noLimits },
    { organizationId: acme, owner: 'a', limits: daily },
    { organizationId: other, owner: 'a', limits: daily },
  ]
  const states = await readBudgetStates(budgets, owners, now)
  const rendered = states.map((state, index) => renderLimits(owners[index]?.limits ?? noLimits, state).budget)
  expect(rendered).toMatchObject([
    { spent_usd: '6.00', left_usd: '-1.00', resets_at: null },
    null,
    { left_usd: '3.99999999', resets_at: '2026-11-26T00:00:00.000Z' },
    { spent_usd: '0.00', left_usd: '5.00' },
  ] as object[])
})

test('a budget of yesterday is not that of today', async () => {
  const { budgets, acme, spend } = await twoOrganizations()
  spend(acme, 'a', today, '1000000000, 0, 0, 0')
  const owner = { organizationId: acme, owner: 'a', limits: daily }
  const [state] = await readBudgetStates(budgets, [owner], now + 86_400_000)
  expect(renderLimits(daily, state)).toEqual({
    budget_usd: '5.00',
    budget_period: 'day',
    budget_time_zone: 'UTC',
    requests_per_minute: null,
    tokens_per_minute: null,
    concurrent_requests: null,
    models: null,
    enabled: true,
    budget: {
      limit_usd: '5.00',
      spent_usd: '0.00',
      reserved_usd: '0.00',
      held_usd: '0.00',
      allocated_usd: '0.00',
      left_usd: '5.00',
      resets_at: '2026-11-27T00:00:00.000Z',
    },
  })
})
