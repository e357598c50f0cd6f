import { isReserved } from '../support/is-reserved.ts'
import { expect, test } from 'bun:test'
import { existsSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { command as keys } from '../../src/cli/commands/keys.ts'
import { command as orgs } from '../../src/cli/commands/orgs.ts'
import { silentLog } from '../../src/lib/log.ts'
import { createLedger } from '../../src/storage/sqlite/ledger.ts'
import { openDatabase } from '../../src/storage/sqlite/connection/database.ts'
import { databaseName } from '../../src/storage/database-location.ts'
import { migrations } from '../../src/storage/sqlite/connection/migrate.ts'
import { Writer } from '../../src/storage/sqlite/writer.ts'
import { temporaryFolder } from '../unit/storage/support/folder.ts'
import { expectConsistentLedger, requestOf } from '../unit/storage/support/ledger-fixture.ts'
import { noLimits } from './support/no-limits.ts'
import { runWeir } from './support/run-weir.ts'
import { storageFixture } from './support/storage-fixture.ts'

test('an organization is created, listed and deleted', async () => {
  const { say: run } = storageFixture()
  const created = await run(orgs, 'create', 'acme')
  expect(created).toMatchObject({ code: 0, err: '' })
  expect(created.out).toMatch(/^Created the organization acme \(org_\w+\)\.$/)
  expect((await run(orgs, 'list')).out).toContain('acme')
  expect(await run(orgs, 'delete', 'acme', '--yes')).toEqual({
    code: 0,
    out: 'Deleted the organization acme.',
    err: '',
  })
  expect((await run(orgs, 'list')).out).toStartWith('There are no organizations in ')
})

test('weir orgs list --json prints the billing, the balance in USD and the limits', async () => {
  const { say: run } = storageFixture()
  const created = JSON.parse((await run(orgs, 'create', 'acme', '--json')).out)
  expect(created).toEqual({
    id: expect.stringMatching(/^org_/),
    name: 'acme',
    billing: 'unmetered',
    balance_usd: '0.00',
    reserved_usd: '0.00',
    ...noLimits,
    created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
  })
  expect(JSON.parse((await run(orgs, 'list', '--json')).out)).toEqual([created])
  const deleted = await run(orgs, 'delete', 'acme', '--yes', '--json')
  expect(JSON.parse(deleted.out)).toEqual({ ...created, deleted: true })
  expect(JSON.parse((await run(orgs, 'list', '--json')).out)).toEqual([])
})

test('a negative balance is shown as such, and a credit counts from there', async () => {
  const { data, say: run } = storageFixture()
  const { id } = JSON.parse((await run(orgs, 'create', 'acme', '--json')).out)
  await run(orgs, 'set', 'acme', '--billing', 'prepaid')
  await run(orgs, 'credit', 'acme', '1')
  const database = openDatabase(join(data, databaseName), silentLog)
  const ledger = createLedger(database, new Writer(database))
  const request = requestOf(id)
  await ledger.reserve({ request, amount: 1n, promptCost: 1n, promptTokens: 1 })
  await ledger.settle(request, { status: 200, cost: 13_500_000_000n })
  expectConsistentLedger(database.sqlite)
  database.close()
  expect((await run(orgs, 'list')).out).toMatch(/^acme +org_\w+ +prepaid +-12\.50 /m)
  expect(JSON.parse((await run(orgs, 'list', '--json')).out)).toMatchObject([{ balance_usd: '-12.50' }])
  expect((await run(orgs, 'credit', 'acme', '2.25')).out).toBe('The balance of acme is -10.25 USD.')
  expect((await run(orgs, 'credit', '--', 'acme', '-1')).err).toContain('The balance of acme is -10.25 USD')
})

test('a credit is exact, a correction deducts, and the list shows the balance', async () => {
  const { say: run } = storageFixture()
  await run(orgs, 'create', 'acme')
  expect(await run(orgs, 'credit', 'acme', '12.50', '--note', 'invoice 7')).toEqual({
    code: 0,
    out: 'The balance of acme is 12.50 USD.',
    err: 'The billing of acme is unmetered. To pay for requests from the balance, run: weir orgs set acme --billing prepaid',
  })
  await run(orgs, 'set', 'acme', '--billing', 'prepaid')
  const credited = await run(orgs, 'credit', '--json', '--', 'acme', '-0.000000001')
  expect(credited.err).toBe('')
  expect(JSON.parse(credited.out)).toMatchObject({
    name: 'acme',
    billing: 'prepaid',
    balance_usd: '12.499999999',
  })
  expect((await run(orgs, 'list')).out).toMatch(/^acme +org_\w+ +prepaid +12\.499999999 /m)
  expect((await run(orgs, 'credit', 'acme', '-0.4999', '--json')).out).toContain('"12.000099999"')
  expect((await run(orgs, 'credit', 'acme', '+0.4999')).code).toBe(0)
  const refused = await run(orgs, 'credit', '--', 'acme', '-20')
  expect([refused.code, refused.out]).toEqual([1, ''])
  expect(refused.err).toContain('The balance of acme is 12.499999999 USD')
})

test('billing and limits are set one by one, and default restores a limit to the settings', async () => {
  const { say: run } = storageFixture()
  await run(orgs, 'create', 'acme')
  const set = async (...args: string[]) => JSON.parse((await run(orgs, 'set', 'acme', ...args, '--json')).out)
  const limited = await set('--requests-per-minute', '600', '--tokens-per-minute', '1000000')
  expect(limited).toMatchObject({
    billing: 'unmetered',
    requests_per_minute: 600,
    tokens_per_minute: 1_000_000,
  })
  expect(limited.concurrent_requests).toBeNull()
  const changed = await set(
    '--requests-per-minute',
    'default',
    '--concurrent-requests',
    '3',
    '--billing',
    'none',
  )
  expect(changed).toMatchObject({ billing: 'none', requests_per_minute: null, tokens_per_minute: 1_000_000 })
  expect(changed.concurrent_requests).toBe(3)
  expect(JSON.parse((await run(orgs, 'list', '--json')).out)).toEqual([changed])
  expect((await run(orgs, 'list')).out).toMatch(/^acme .* default +1,000,000 +3 /m)
})

test.each(['list', 'set acme --billing none', 'credit acme 1', 'delete acme --yes'])(
  'weir orgs %s creates nothing where there is no data, and suggests what to do',
  async (line) => {
    const { say: run, data } = storageFixture()
    expect(await run(orgs, ...line.split(' '))).toEqual({
      code: 1,
      out: '',
      err: `There is no database in ${data}. Start weir serve first, or choose another folder with --data.`,
    })
    expect(existsSync(data)).toBe(false)
  },
)

test('weir orgs list leaves no file beside the database and does not migrate an older schema', async () => {
  const data = temporaryFolder()
  const list = () => runWeir(['orgs', 'list'], data, { WEIR_DATA: data })
  expect((await runWeir(['orgs', 'create', 'acme'], data, { WEIR_DATA: data })).code).toBe(0)
  expect((await list()).code).toBe(0)
  expect(readdirSync(data).filter((name) => name.startsWith('weir'))).toEqual(['weir.db'])
  const database = openDatabase(join(data, databaseName))
  const { length } = migrations
  database.sqlite.run(`PRAGMA user_version = ${length - 1}`)
  database.close()
  const refused = await list()
  expect([refused.code, refused.err]).toEqual([1, expect.stringContaining('Start weir serve to migrate it.')])
  expect(readdirSync(data).filter((name) => name.includes('schema'))).toEqual([])
})

test('weir orgs delete deletes nothing without --yes', async () => {
  const { say: run } = storageFixture()
  await run(orgs, 'create', 'acme')
  const refused = await run(orgs, 'delete', 'acme')
  expect([refused.code, refused.out]).toEqual([2, ''])
  expect(refused.err).toContain('--yes')
  expect((await run(orgs, 'list')).out).toContain('acme')
})

test('the keys of a deleted organization stay in the list, without an owner', async () => {
  const { say: run } = storageFixture()
  await run(orgs, 'create', 'acme')
  const { id } = JSON.parse((await run(keys, 'create', '--org', 'acme', '--json')).out)
  await run(orgs, 'delete', 'acme', '--yes')
  expect(JSON.parse((await run(keys, 'list', '--json')).out)).toMatchObject([{ id, organization: null }])
  expect((await run(keys, 'list')).out).toContain('(deleted)')
})

test.each([
  {
    args: [],
    code: 2,
    says: 'Missing subcommand for weir orgs. Available: create, list, show, set, rename, credit, ledger, delete.',
  },
  { args: ['crate', 'x'], code: 2, says: 'Did you mean create?' },
  { args: ['toString'], code: 2, says: 'Unknown subcommand “toString” for weir orgs.' },
  { args: ['create'], code: 2, says: 'Missing argument NAME for weir orgs create.' },
  { args: ['create', 'a', 'b'], code: 2, says: '“b”' },
  { args: ['list', '--jsn'], code: 2, says: '--json' },
  { args: ['set', 'acme'], code: 2, says: 'requires at least one of: --billing, --budget, --budget-period,' },
  { args: ['set', 'acme', '--billing', 'free'], code: 2, says: 'unmetered, prepaid, none, not “free”' },
  {
    args: ['set', 'acme', '--requests-per-minute', '0'],
    code: 2,
    says: 'must be a whole number of at least 1',
  },
  {
    args: ['set', 'acme', '--tokens-per-minute', '1e3'],
    code: 2,
    says: 'must be a whole number of at least 1',
  },
  {
    args: ['set', 'acme', '--concurrent-requests', '9'.repeat(20)],
    code: 2,
    says: 'must be a whole number of at least 1',
  },
  { args: ['set', 'nobody', '--billing', 'none'], code: 1, says: 'There is no organization' },
  { args: ['credit', 'acme'], code: 2, says: 'Missing argument USD for weir orgs credit.' },
  { args: ['credit', 'acme', '-1,5'], code: 2, says: 'not “-1,5”' },
  { args: ['set', 'acme', '--tokens-per-minute', '-5'], code: 2, says: 'or default, not “-5”' },
  { args: ['credit', 'acme', '1,5'], code: 2, says: 'USD must be an amount such as 25 or 12.50' },
  { args: ['credit', 'acme', '0.0000000001'], code: 2, says: 'at most nine decimals' },
  { args: ['credit', 'nobody', '5'], code: 1, says: 'There is no organization nobody.' },
  { args: ['create', 'a/b'], code: 1, says: 'must have 1 to 64 letters' },
  { args: ['delete', 'nobody', '--yes'], code: 1, says: 'There is no organization nobody.' },
])('weir orgs $args ends with $code and an error message', async ({ args, code, says }) => {
  const { say: run } = storageFixture()
  await run(orgs, 'create', 'other')
  const output = await run(orgs, ...args)
  expect([output.code, output.out]).toEqual([code, ''])
  expect(output.err).toContain(says)
})

test('a mistake in weir.yaml does not prevent the commands', async () => {
  const { say: run, data } = storageFixture()
  writeFileSync(join(data, '..', 'weir.yaml'), 'no such setting: true')
  expect((await run(orgs, 'create', 'acme')).code).toBe(0)
})

test('a change made while another process has the database open takes effect there immediately', async () => {
  const { say: run, data } = storageFixture()
  await run(orgs, 'create', 'acme')
  const database = openDatabase(join(data, databaseName))
  const writer = new Writer(database)
  const { id } = JSON.parse((await run(orgs, 'list', '--json')).out)[0]
  const ledger = createLedger(database, writer)
  const reservation = { request: requestOf(id), amount: 2_000_000_000n, promptCost: 0n, promptTokens: 1 }
  expect(await isReserved(ledger, reservation)).toBe(false)
  const outcome = await runWeir(['orgs', 'credit', 'acme', '2', '--json'], data, { WEIR_DATA: data })
  expect(JSON.parse(outcome.out)).toMatchObject({ balance_usd: '2.00', reserved_usd: '0.00' })
  expect(await isReserved(ledger, reservation)).toBe(true)
  const refused = await runWeir(['orgs', 'credit', '--', 'acme', '-1'], data, { WEIR_DATA: data })
  expect([refused.code, refused.out]).toEqual([1, ''])
  expect(refused.err).toContain('of which 2.00 USD are reserved by open requests')
  expectConsistentLedger(database.sqlite)
  database.close()
})
