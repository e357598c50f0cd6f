import { expect, test } from 'bun:test'
import { readAccounts } from '../../../../src/cli/import/key-list.ts'
import { importConfig } from '../../../../src/cli/import/import-config.ts'

const now = Date.parse('2026-11-25T18:00:00Z')

/** The key that an entry becomes, and the notes on it. */
function importedKey(entry: object) {
  const { keys, notImported } = readAccounts([{ key_alias: 'a', ...entry }], [], now)
  return { key: keys[0], notes: notImported.map(({ path, reason }) => `${path}: ${reason}`) }
}

test.each([
  ['1d', 'day', true],
  ['24h', 'day', true],
  ['86400s', 'day', true],
  ['7d', 'week', true],
  ['1w', 'week', true],
  ['30d', 'month', true],
  ['1mo', 'month', true],
  [null, 'none', true],
  ['None', 'none', true],
  ['1h', 'day', false],
  ['3d', 'week', false],
  ['14d', 'month', false],
  ['3mo', 'none', false],
  ['often', 'none', false],
])('the budget_duration %p becomes the period %p', (duration, period, isExact) => {
  const { key, notes } = importedKey({ max_budget: 5, budget_duration: duration })
  expect(key).toMatchObject({ budget: 5_000_000_000n, budgetPeriod: period as 'day' })
  expect(notes).toEqual(
    isExact ? [] : [expect.stringContaining('keys[0].budget_duration: Weir resets budgets each day')],
  )
})

test.each([
  [0.1, 100_000_000n],
  ['2.5', 2_500_000_000n],
  [1e-9, 1n],
  [1e-12, 0n],
  [0, 0n],
  [1e300, BigInt(Number.MAX_SAFE_INTEGER)],
  [-1, 0n],
  ['much', 0n],
])('the max_budget %p is exact, and never more than LiteLLM has', (max_budget, nanos) => {
  expect(importedKey({ max_budget }).key?.budget).toBe(nanos)
})

test('a key without limits has none, and a budget of its own goes before that of a shared table', () => {
  const nothing = { max_budget: null, rpm_limit: null, models: [], expires: null }
  expect(importedKey(nothing).key).toEqual({ name: 'a', project: null, expiresAt: null, tags: [] })
  const shared = { max_budget: 7, budget_duration: '7d', rpm_limit: 5 }
  expect(importedKey({ max_budget: 3, litellm_budget_table: shared }).key).toMatchObject({
    budget: 3_000_000_000n,
    budgetPeriod: 'week',
    requestsPerMinute: 5,
  })
})

test.each([
  [[], undefined],
  [['all-proxy-models'], undefined],
  [['all-team-models'], undefined],
  [['*'], undefined],
  [
    ['gpt-4o', 'anthropic/*'],
    ['gpt-4o', 'anthropic/*'],
  ],
  [['no-default-models'], []],
  ['gpt-4o', []],
])('the models %p become %p', (models, allowed) => {
  expect(importedKey({ models }).key?.models).toEqual(allowed)
})

test('a limit that allows nothing disables the key, as a block does', () => {
  expect(importedKey({ rpm_limit: 0 })).toEqual({
    key: expect.objectContaining({ enabled: false }),
    notes: ['keys[0].rpm_limit: A limit of 0 allows no request: it is disabled in Weir.'],
  })
  expect(importedKey({ blocked: true }).key).toMatchObject({ enabled: false })
})

test.each([
  ['2027-01-01T00:00:00Z', '2027-01-01T00:00:00.000Z'],
  ['2027-01-01 00:00:00.5+00', '2027-01-01T00:00:00.500Z'],
  ['2027-01-01T02:00:00+02:00', '2027-01-01T00:00:00.000Z'],
  ['2027-01-01 00:00:00', '2027-01-01T00:00:00.000Z'],
])('the expiry %p is %p', (expires, iso) => {
  expect(importedKey({ expires }).key?.expiresAt).toBe(Date.parse(iso))
})

test.each(['soon', '2026-11-25T17:59:59Z'])('a key with the expiry %p is not imported', (expires) => {
  const { key, notes } = importedKey({ expires })
  expect(key).toBeUndefined()
  expect(notes).toHaveLength(1)
})

test('teams become projects with names of their own, also teams that only keys name', () => {
  const teams = [
    { team_id: 't1', team_alias: 'search', max_budget: 5 },
    { team_id: 't2', team_alias: 'search' },
    { team_alias: 'no id' },
  ]
  const keys = ['t1', 't2', 't3', ''].map((team_id) => ({ team_id, team_max_budget: 9, team_alias: null }))
  const accounts = readAccounts({ keys }, { teams }, now)
  expect(accounts.projects).toEqual([
    { name: 'search', budget: 5_000_000_000n, budgetPeriod: 'none' },
    { name: 'search (t2)' },
    { name: 't3', budget: 9_000_000_000n, budgetPeriod: 'none' },
  ])
  expect(accounts.keys.map(({ project }) => project)).toEqual(['search', 'search (t2)', 't3', null])
  expect(accounts.notImported.map(({ path }) => path)).toEqual(['teams[2]'])
})

test('pages, hashes and settings without a counterpart are noted', () => {
  const list = {
    keys: ['hash', { key_alias: 'a', aliases: { x: 'y' }, guardrails: ['g'], metadata: { a: 1 } }],
  }
  const { keys, notImported } = readAccounts({ ...list, current_page: 1, total_pages: 3 }, [], now)
  expect(keys).toHaveLength(1)
  expect(notImported.map(({ path }) => path)).toEqual([
    'keys',
    'keys[0]',
    'keys[1].aliases',
    'keys[1].guardrails',
    'keys[1].metadata',
  ])
})

test.each([
  null,
  5,
  'x',
  {},
  { keys: null },
  [null, 1, [], { key_alias: 5, team_id: {}, tags: 'x', models: {} }],
])('any value is accepted as a list: %p', (value) => {
  expect(() => readAccounts(value, value, now)).not.toThrow()
})

test('no name has what looks like a secret', () => {
  const secret = 'sk-0123456789abcdef0123456789abcdef'
  const { keys } = readAccounts([{ key_alias: secret, key_name: secret }], [], now)
  expect(keys[0]?.name).toBe('unnamed')
})

test('the budgets of a config.yaml are noted with the commands that set them', () => {
  const { notImported } = importConfig({
    model_list: [],
    litellm_settings: {
      max_budget: 100,
      budget_duration: '30d',
      default_team_settings: [
        { team_id: 'default-settings', max_budget: 100.5, success_callback: ['langfuse'] },
        { team_id: 'the team', max_budget: 5, budget_duration: '7d', models: ['a', 'b c'], tpm_limit: 9 },
      ],
      default_key_generate_params: { max_budget: 1.5, rpm_limit: 3 },
    },
  })
  const reasons = new Map(notImported.map(({ path, reason }) => [path, reason]))
  const settings = 'litellm_settings'
  expect(reasons.get(`${settings}.max_budget`)).toBe(
    'Run: weir orgs set default --budget 100.00 --budget-period month',
  )
  expect(reasons.get(`${settings}.default_team_settings[0]`)).toBe(
    'Run, for each such team: weir projects create NAME --budget 100.50',
  )
  expect(reasons.has(`${settings}.default_team_settings[0].success_callback`)).toBe(true)
  expect(reasons.get(`${settings}.default_team_settings[1]`)).toEndWith(
    `weir projects create 'the team' --budget 5.00 --budget-period week --tokens-per-minute 9 --models 'a,b c'`,
  )
  expect(reasons.get(`${settings}.default_key_generate_params`)).toEndWith(
    'weir keys create --budget 1.50 --requests-per-minute 3',
  )
})
