import { expect, test } from 'bun:test'
import { command as keys } from '../../src/cli/commands/keys.ts'
import { command as orgs } from '../../src/cli/commands/orgs.ts'
import { command as projects } from '../../src/cli/commands/projects.ts'
import { periodAt } from '../../src/domain/accounting/budget-period.ts'
import { type DatabaseFixture, testDatabases } from './support/database-fixture.ts'
import { noLimits } from './support/no-limits.ts'
import { storageFixture } from './support/storage-fixture.ts'

const limits = [
  ...words('--budget 20 --budget-period month --budget-time-zone Europe/Berlin --disable'),
  ...words('--requests-per-minute 60 --tokens-per-minute 100000 --concurrent-requests 4 --models'),
  'anthropic/*, openai/gpt-6-luna',
]

const renderedLimits = {
  budget_usd: '20.00',
  budget_period: 'month',
  budget_time_zone: 'Europe/Berlin',
  requests_per_minute: 60,
  tokens_per_minute: 100_000,
  concurrent_requests: 4,
  models: ['anthropic/*', 'openai/gpt-6-luna'],
  enabled: false,
}

/** The flags that undo all limits; organizations have the word `default` for the rate limits of the settings. */
function noLimitFlags(word: 'none' | 'default'): string[] {
  return words(
    `--budget none --budget-period none --budget-time-zone UTC --models all --enable
      --requests-per-minute ${word} --tokens-per-minute ${word} --concurrent-requests ${word}`,
  )
}

function words(text: string): string[] {
  return text.trim().split(/\s+/)
}

/** Records what is spent of a budget in its current month. */
async function spend({ change }: DatabaseFixture, organizationId: string, owner: string): Promise<void> {
  const { start } = periodAt('month', 'Europe/Berlin', Date.now())
  await change(
    `INSERT INTO budgets (owner_id, start, organization_id, spent, reserved, held, allocated)
     VALUES ('${owner}', ${start}, '${organizationId}', 1234567891, 2000000000, 500000000, 1000000000)`,
  )
}

testDatabases((open) => {
  test('organizations, projects and keys have the same limits, which are set, shown and removed', async () => {
    const { json } = await open()
    const project = await json(projects, 'create', 'alice', '--org', 'acme')
    const key = await json(keys, 'create', '--org', 'acme')
    for (const [command, id, word] of [
      [orgs, 'acme', 'default'],
      [projects, project.id, 'none'],
      [keys, key.id, 'none'],
    ] as const) {
      expect(await json(command, 'show', id)).toMatchObject(noLimits)
      expect(await json(command, 'set', id, ...limits)).toMatchObject(renderedLimits)
      expect(await json(command, 'set', id, '--models', 'none')).toMatchObject({
        ...renderedLimits,
        models: [],
      })
      expect(await json(command, 'set', id, ...noLimitFlags(word))).toMatchObject(noLimits)
    }
  })

  test('lists and details show what is left of a budget, and held money can be released', async () => {
    const database = await open()
    const { json, list, say } = database
    const project = await json(projects, 'create', 'alice', '--org', 'acme', ...limits)
    const key = await json(keys, 'create', '--org', 'acme', '--project', 'alice', ...limits)
    const account = await json(orgs, 'set', 'acme', ...limits)
    for (const [command, id] of [
      [orgs, account.id],
      [projects, project.id],
      [keys, key.id],
    ] as const) {
      await spend(database, account.id, id)
      const reference = command === orgs ? 'acme' : id
      const listed = (await list(command)).find((item) => item.id === id)
      expect(listed?.budget).toEqual({
        limit_usd: '20.00',
        spent_usd: '1.234567891',
        reserved_usd: '2.00',
        held_usd: '0.50',
        allocated_usd: '1.00',
        left_usd: '15.265432109',
        resets_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT2[23]:00:00.000Z$/),
      })
      expect(listed).toEqual(await json(command, 'show', reference))
      expect((await say(command, 'list')).out).toContain('15.2654 of 20.00 a month')
      const details = (await say(command, 'show', reference)).out
      expect(details).toMatch(/^ {2}left +15\.265432109 USD$/m)
      expect(details).toMatch(/^ {2}held +0\.50 USD for requests of killed servers$/m)
      const released = await say(command, 'set', reference, '--release-held', '--json')
      expect(released.err).toBe(`Released 0.50 USD of the budget of ${listed?.name}.`)
      expect(JSON.parse(released.out).budget).toMatchObject({ held_usd: '0.00', left_usd: '15.765432109' })
    }
  })

  test('a replaced key shares its budget with the new one', async () => {
    const database = await open()
    const { json } = database
    const key = await json(keys, 'create', '--org', 'acme', ...limits)
    const { id } = await json(orgs, 'show', 'acme')
    await spend(database, id, key.id)
    const replacement = await json(keys, 'rotate', key.id)
    expect(replacement).toMatchObject({ ...renderedLimits, budget: { left_usd: '15.265432109' } })
    expect(await json(keys, 'show', replacement.id)).toMatchObject({ budget: { spent_usd: '1.234567891' } })
  })

  test('a whole key is accepted in place of its id, and its secret is not printed', async () => {
    const { json, say } = await open()
    const { id, key } = await json(keys, 'create')
    const secret = key.slice(-32)
    const outputs = [
      await say(keys, 'show', key),
      await say(keys, 'set', key, '--budget', '1'),
      await say(keys, 'set', key, '--project', 'nothing'),
      await say(keys, 'rotate', key, '--json'),
      await say(keys, 'rotate', key),
      await say(keys, 'revoke', key),
      await say(keys, 'revoke', `${key}.`),
      await say(keys, 'revoke', id, key),
    ]
    expect(outputs.map(({ code }) => code)).toEqual([0, 0, 1, 0, 1, 0, 0, 2])
    for (const { out, err } of outputs) expect(out + err).not.toContain(secret)
    expect(await json(keys, 'show', id)).toMatchObject({ revoked_at: expect.stringMatching(/^2/) })
  })
})

const wrong: readonly [flags: readonly string[], says: string][] = [
  [['--budget', '-1'], '--budget must be an amount of USD such as 5 or 0.50'],
  [['--budget', '1,5'], 'or none, not “1,5”'],
  [['--budget', '0.0000000001'], 'with at most nine decimals'],
  [['--budget-period', 'year'], '--budget-period must be one of day, week, month, none, not “year”'],
  [['--tokens-per-minute', '0'], '--tokens-per-minute must be a whole number of at least 1, or'],
  [['--models', 'a,,b'], "--models must be models such as 'anthropic/*,openai/gpt-6-luna', all or none"],
  [['--enable', '--disable'], '--enable and --disable exclude each other.'],
  [[], 'requires at least one of: '],
]

test.each(wrong)('limits with %p are wrong usage of every command', async (flags, says) => {
  const { say } = storageFixture()
  for (const command of [orgs, projects, keys])
    expect(await say(command, 'set', 'x', ...flags)).toEqual({
      code: 2,
      out: '',
      err: expect.stringContaining(says),
    })
})

test.each([
  ['a budget of 99999999 USD', ['--budget', '99999999'], 'at most 9007199.25 USD'],
  ['a wrong time zone', ['--budget-time-zone', 'Europe/Berlln'], 'There is no time zone Europe/Berlln.'],
  ['a wrong permission', ['--permissions', 'root'], 'must be a list of admin, mint, or none, not “root”'],
  ['an empty tag', ['--tags', 'a,'], '--tags must be at most 32 tags of at most 128 characters'],
  ['a long tag', ['--tags', `a,${'b'.repeat(129)}`], '--tags must be at most 32 tags'],
  ['a long note', ['--note', 'n'.repeat(1001)], '--note must be a text of at most 1000 characters'],
  ['an unknown project', ['--project', 'nobody'], 'There is no project nobody in the organization default.'],
])('weir keys create with %s creates no key', async (_, flags, says) => {
  const { say } = storageFixture()
  await say(orgs, 'create', 'default')
  const { code, out, err } = await say(keys, 'create', ...flags)
  expect([code > 0, out, err]).toEqual([true, '', expect.stringContaining(says)])
  expect((await say(keys, 'list')).out).toStartWith('There are no API keys in ')
})

test('an argument that looks like the key of a provider is not printed', async () => {
  const { say } = storageFixture()
  const refused = await say(keys, 'revoke', 'sk-proj-0123456789abcdef0123456789')
  expect(refused).toEqual({
    code: 2,
    out: '',
    err: 'ID must be the ID of an API key, or an API key of Weir. To list all API keys, run: weir keys list',
  })
})
