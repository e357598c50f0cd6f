import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { command as orgs } from '../../src/cli/commands/orgs.ts'
import { command as usage } from '../../src/cli/commands/usage.ts'
import { databaseName } from '../../src/storage/database-location.ts'
import { openDatabase } from '../../src/storage/sqlite/connection/database.ts'
import { createLedger } from '../../src/storage/sqlite/ledger.ts'
import { Writer } from '../../src/storage/sqlite/writer.ts'
import { requestOf } from '../unit/storage/support/ledger-fixture.ts'
import { storageFixture } from './support/storage-fixture.ts'

/** A data folder with a prepaid organization that was credited twice and charged once, and with another one. */
async function paidScenario() {
  const scenario = storageFixture()
  const create = async (name: string): Promise<string> =>
    JSON.parse((await scenario.say(orgs, 'create', name, '--json')).out).id
  const [acme] = [await create('acme'), await create('other')]
  await scenario.say(orgs, 'credit', 'acme', '10', '--note', '=1+1, "two"')
  await scenario.say(orgs, 'credit', 'other', '3', '--note', 'not of acme')
  const database = openDatabase(join(scenario.data, databaseName))
  const ledger = createLedger(database, new Writer(database))
  const request = { ...requestOf(acme), model: 'acme/river', user: '=cmd' }
  await ledger.reserve({ request, amount: 9n, promptCost: 1n, promptTokens: 1 })
  const counts = { promptTokens: 7, completionTokens: 2, cachedTokens: 0, estimated: false }
  await ledger.settle(request, { status: 200, cost: 1_000_000_001n, usage: counts })
  database.close()
  await scenario.say(orgs, 'credit', 'acme', '-0.5')
  return { ...scenario, request: request.id }
}

test('weir orgs ledger lists what has changed a balance, and its sum is the balance', async () => {
  const { say, request } = await paidScenario()
  const { out } = await say(orgs, 'ledger', 'acme', '--sum')
  const lines = out.trimEnd().split('\n')
  expect(lines.map((line) => line.replace(/^20\S+ \S+Z/, 'TIME').replace(/led_\w+$/, 'ID'))).toEqual([
    expect.stringMatching(/^TIME +KIND +AMOUNT USD +BALANCE USD +REQUEST OR NOTE +ID$/),
    expect.stringMatching(/^TIME +credit +-0\.50 +8\.499999999 +ID$/),
    expect.stringMatching(new RegExp(`^TIME +charge +-1\\.000000001 +8\\.999999999 +${request} +ID$`)),
    expect.stringMatching(/^TIME +credit +10\.00 +10\.00 +=1\+1, "two" +ID$/),
    'Sum of all 3 entries: 8.499999999 USD',
    'Balance: 8.499999999 USD',
  ])
  expect(out).not.toContain('not of acme')
})

test('weir orgs ledger goes on after an entry, and prints JSON', async () => {
  const { say, request } = await paidScenario()
  const first = JSON.parse((await say(orgs, 'ledger', 'acme', '--limit', '1', '--sum', '--json')).out)
  expect(first).toMatchObject({ balance_usd: '8.499999999', sum_usd: '8.499999999', entries: 3 })
  expect(first.data).toHaveLength(1)
  expect(first.next).toBe(first.data[0].id)
  const listed = await say(orgs, 'ledger', 'acme', '--limit', '1')
  expect(listed.err).toContain(`--after ${first.next}`)
  const rest = JSON.parse((await say(orgs, 'ledger', 'acme', '--after', first.next, '--json')).out)
  expect(rest.data.map((entry: { request_id: string | null }) => entry.request_id)).toEqual([request, null])
  expect(rest.next).toBeNull()
  expect((await say(orgs, 'ledger', 'acme', '--until', '2020-01-01')).out).toBe('There are no such entries.')
})

test('weir orgs ledger and weir usage print CSV with exact amounts, in which no text is a formula', async () => {
  const { say, request } = await paidScenario()
  const { out } = await say(orgs, 'ledger', 'acme', '--csv', '--since', '1d')
  const [header, correction, charge, credit, ...others] = out.split('\n')
  expect(header).toBe('id,created_at,kind,amount_usd,balance_usd,request_id,note')
  expect(correction).toEndWith(',credit,-0.50,8.499999999,,')
  expect(charge).toEndWith(`,charge,-1.000000001,8.999999999,${request},`)
  expect(credit).toEndWith(`,credit,10.00,10.00,,"'=1+1, ""two"""`)
  expect(others).toEqual([])
  const report = (await say(usage, '--by', 'user,org', '--csv')).out.split('\n')
  expect(report[0]).toStartWith('user,organization,requests,failed,prompt_tokens,completion_tokens,')
  expect(report[0]).toContain(',cost_usd,')
  expect(report[1]).toStartWith("'=cmd,acme,1,0,7,2,0,0,1.000000001,0,0,0,0,")
  expect(report).toHaveLength(2)
})

test.each([
  [['nobody'], 1, 'There is no organization nobody.'],
  [['acme', '--kind', 'gift'], 2, '--kind must be credit or charge'],
  [['acme', '--limit', '1001'], 2, '--limit must be a number from 1 to 1000'],
  [['acme', '--after', 'req_1'], 2, '--after must be the ID of a ledger entry'],
  [['acme', '--since', 'sometime'], 2, '--since must be a duration'],
  [['acme', '--csv', '--sum'], 2, '--csv cannot be combined with'],
])('weir orgs ledger %p ends with %i and an error message', async (args, code, message) => {
  const { say } = await paidScenario()
  expect(await say(orgs, 'ledger', ...args)).toEqual({ code, out: '', err: expect.stringContaining(message) })
})
