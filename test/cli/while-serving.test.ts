import { expect, test } from 'bun:test'
import { tmpdir } from 'node:os'
import { waitUntil } from '../support/billing-database.ts'
import { type BillingScenario, startBillingScenario } from '../support/billing-scenario.ts'
import { jsonReply } from '../support/chat-fixtures.ts'
import { chatRequest } from '../support/scenario.ts'
import { callWeir, runWeir } from './support/run-weir.ts'
import { databaseEnvironment } from '../support/database-connection.ts'

/** Runs a command as another process on the data of this gateway, and returns what it prints with `--json`. */
function weir(paid: BillingScenario, ...args: string[]) {
  return outputOf(runWeir, paid, args)
}

async function outputOf(runProgram: typeof runWeir, { database }: BillingScenario, args: readonly string[]) {
  const { code, out, err } = await runProgram([...args, '--json'], tmpdir(), databaseEnvironment(database))
  if (code !== 0) throw new Error(`weir ${args.join(' ')} ended with ${code}: ${err}`)
  return JSON.parse(out)
}

async function statusOf({ app }: BillingScenario, key: string): Promise<number> {
  const reply = await app.chat(chatRequest, { headers: { authorization: `Bearer ${key}` } })
  await reply.text()
  return reply.status
}

/** A gateway in use: its caches know the organization `acme` and its key. */
async function startServed() {
  const paid = await startBillingScenario(jsonReply())
  const created = await weir(paid, 'orgs', 'create', 'acme')
  expect(created).toMatchObject({ name: 'acme', billing: 'unmetered', balance_usd: '0.00' })
  const { id, key } = await weir(paid, 'keys', 'create', '--org', 'acme')
  expect(await statusOf(paid, key)).toBe(200)
  return { ...paid, id, key }
}

test('a change of the billing and balance of an organization takes effect in a running server', async () => {
  await using paid = await startServed()
  const { key } = paid
  expect(await weir(paid, 'orgs', 'set', 'acme', '--billing', 'none')).toMatchObject({ billing: 'none' })
  await waitUntil(async () => (await statusOf(paid, key)) === 402, 'no billing')
  const refusal = await paid.app.chat(chatRequest, { headers: { authorization: `Bearer ${key}` } })
  expect(await refusal.json()).toMatchObject({ error: { code: 'billing_not_configured' } })

  await weir(paid, 'orgs', 'set', 'acme', '--billing', 'prepaid')
  expect(await statusOf(paid, key)).toBe(402)
  expect(await weir(paid, 'orgs', 'credit', 'acme', '0.002')).toMatchObject({ balance_usd: '0.002' })
  await waitUntil(async () => (await statusOf(paid, key)) === 200, 'a balance')
  const [acme] = (await weir(paid, 'orgs', 'list')).filter((org: { name: string }) => org.name === 'acme')
  expect(acme).toMatchObject({ billing: 'prepaid', balance_usd: '0.001938', reserved_usd: '0.00' })
  await paid.billing.expectConsistent()
})

test('a limit takes effect in a running server, and so does its removal', async () => {
  await using paid = await startServed()
  const limit = async () => {
    const headers = { authorization: `Bearer ${paid.key}` }
    const reply = await paid.app.request('/v1/models', { headers })
    return reply.headers.get('x-ratelimit-limit-requests')
  }
  await weir(paid, 'orgs', 'set', 'acme', '--requests-per-minute', '77')
  await waitUntil(async () => (await limit()) === '77', 'the limit')
  await weir(paid, 'orgs', 'set', 'acme', '--requests-per-minute', 'default')
  await waitUntil(async () => (await limit()) === '6000', 'no limit of its own')
})

/** The organization, the project and the key of a key, by the commands that change them. */
async function ownersOf(paid: Awaited<ReturnType<typeof startServed>>) {
  const { id: project } = await weir(paid, 'projects', 'create', 'alice', '--org', 'acme')
  await weir(paid, 'keys', 'set', paid.id, '--project', 'alice')
  return [
    ['orgs', 'acme'],
    ['projects', project],
    ['keys', paid.id],
  ] as const
}

test('weir keys list has the time of the last use', async () => {
  await using paid = await startServed()
  const startedAt = Date.now()
  expect(await statusOf(paid, paid.key)).toBe(200)
  const lastUsed = async () => Date.parse((await weir(paid, 'keys', 'show', paid.id)).last_used_at)
  await waitUntil(async () => (await lastUsed()) >= startedAt, 'the last use')
  const [key] = await weir(paid, 'keys', 'list', '--org', 'acme')
  expect(Date.parse(key.last_used_at)).toBeGreaterThanOrEqual(startedAt)
})

test('a budget takes effect in a running server, and so does its removal', async () => {
  await using paid = await startServed()
  for (const [command, name] of await ownersOf(paid)) {
    await weir(paid, command, 'set', name, '--budget', '0', '--budget-period', 'day')
    await waitUntil(async () => (await statusOf(paid, paid.key)) === 402, `the budget of ${command}`)
    await weir(paid, command, 'set', name, '--budget', 'none')
    await waitUntil(async () => (await statusOf(paid, paid.key)) === 200, `no budget of ${command}`)
  }
})

test('requests are rejected while their organization, project or key is disabled', async () => {
  await using paid = await startServed()
  for (const [command, name] of await ownersOf(paid)) {
    await weir(paid, command, 'set', name, '--disable')
    await waitUntil(async () => (await statusOf(paid, paid.key)) === 403, `the end of ${command}`)
    await weir(paid, command, 'set', name, '--enable')
    await waitUntil(async () => (await statusOf(paid, paid.key)) === 200, `the return of ${command}`)
  }
})

test('what was spent of a budget is shown while a server runs', async () => {
  await using paid = await startServed()
  await weir(paid, 'keys', 'set', paid.id, '--budget', '1', '--budget-period', 'month')
  const { key } = await weir(paid, 'keys', 'rotate', paid.id)
  expect(await statusOf(paid, key)).toBe(200)
  const { budget } = await weir(paid, 'keys', 'show', paid.id)
  expect(budget).toMatchObject({ limit_usd: '1.00', spent_usd: '0.000062', left_usd: '0.999938' })
})

test('a new key works when it is printed, and its revocation takes effect too', async () => {
  await using paid = await startServed()
  const rotated = await weir(paid, 'keys', 'rotate', paid.id, '--grace', '0s')
  expect(await statusOf(paid, rotated.key)).toBe(200)
  await waitUntil(async () => (await statusOf(paid, paid.key)) === 401, 'the end of the old key')
  await weir(paid, 'keys', 'revoke', rotated.id)
  await waitUntil(async () => (await statusOf(paid, rotated.key)) === 401, 'the end of the new key')
})

test('the keys of a deleted organization get 403, and its open calls complete', async () => {
  await using paid = await startServed()
  await weir(paid, 'orgs', 'set', 'acme', '--billing', 'prepaid')
  await weir(paid, 'orgs', 'credit', 'acme', '1')
  const deleted = await weir(paid, 'orgs', 'delete', 'acme', '--yes')
  expect(deleted).toMatchObject({ name: 'acme', deleted: true })
  await waitUntil(async () => (await statusOf(paid, paid.key)) === 403, 'the end of the organization')
  expect(await paid.billing.usage()).toEqual([])
  await paid.billing.expectConsistent()
})

test('usage is counted while requests are served, and is the same after the server has stopped', async () => {
  await using paid = await startServed()
  for (const tags of [['spring'], ['spring', 'flood'], undefined])
    await (await paid.app.chat({ ...chatRequest, tags })).text()
  await (await paid.app.chat({ ...chatRequest, model: 'acme/sea' })).text()
  const reportBy = (runProgram: typeof runWeir) => async (by: string) => {
    const { groups, total } = await outputOf(runProgram, paid, ['usage', '--by', by])
    return { groups, total }
  }
  const recorded = async () => (await reportBy(runWeir)('model')).total.requests === 5
  await waitUntil(recorded, 'the usage of five requests')
  const groupings = ['model', 'provider', 'org', 'key', 'tag', 'day']
  const serving = await Promise.all(groupings.map(reportBy(runWeir)))
  await paid.app.stop()
  expect(await Promise.all(groupings.map(reportBy(callWeir)))).toEqual(serving)
  const counted = (by: string) => {
    const { groups } = serving[groupings.indexOf(by)]!
    const name = by === 'org' ? 'organization' : by
    return groups.map((group: Record<string, unknown>) => [group[name], group.requests, group.failed])
  }
  expect(counted('model')).toEqual([
    ['acme/river', 4, 0],
    [null, 1, 1],
  ])
  expect(counted('org')).toEqual([
    ['default', 4, 1],
    ['acme', 1, 0],
  ])
  expect(counted('tag')).toContainEqual(['spring', 2, 0])
  for (const { total } of serving) expect(total).toMatchObject({ requests: 5, cost_usd: '0.000248' })
})
