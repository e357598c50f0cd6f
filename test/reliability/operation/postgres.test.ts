import { afterAll, describe, expect, test } from 'bun:test'
import { Client } from 'pg'
import { Secret } from '../../../src/lib/secret.ts'
import { createOrganizations } from '../../../src/storage/scripts/organization-changes.ts'
import { createScriptRunner } from '../../../src/storage/postgres/run-script.ts'
import { startApp } from '../../support/app.ts'
import { waitUntil } from '../../support/billing-database.ts'
import { maxCost, pricing, replyCost } from '../../support/billing-scenario.ts'
import { jsonReply } from '../../support/chat-fixtures.ts'
import { openTestDatabase } from '../../support/postgres/open-database.ts'
import { execute, hasPostgres, type PostgresServer, startPostgres } from '../../support/postgres/server.ts'
import { chatRequest, startScenario } from '../../support/scenario.ts'
import { testChange } from '../../support/actor.ts'

let server: PostgresServer | undefined
afterAll(() => server?.dispose())

const model = { pricing, max_output_tokens: 100 }

/** A gateway whose organization is prepaid. */
async function startGateway(replies: number) {
  server ??= await startPostgres({ durable: true })
  const url = await server.createDatabase()
  const scripts = Array.from({ length: replies }, () => jsonReply())
  const scenario = await startScenario(scripts, { database: new Secret(url), model })
  const database = await openTestDatabase(url)
  const organizations = createOrganizations(createScriptRunner(database), testChange)
  await organizations.change('default', { billing: 'prepaid' })
  await organizations.credit('default', 1_000_000_000n)
  await database.close()
  // The billing of an organization applies within a second.
  const { app } = scenario
  const charge = async () => {
    const before = await chargesOf(url)
    return (await app.chat(chatRequest)).ok && (await chargesOf(url)) > before
  }
  await waitUntil(charge, 'a request that is charged')
  return { server, url, scenario, app }
}

async function chargesOf(url: string): Promise<number> {
  return (await execute(url, "SELECT FROM ledger WHERE kind = 'charge'")).length
}

type Sums = Record<'balance' | 'reserved' | 'entries', string>

async function sumsOf(url: string): Promise<Sums | undefined> {
  const [sums] = await execute<Sums>(
    url,
    'SELECT balance, reserved, (SELECT sum(amount) FROM ledger) entries FROM organizations',
  )
  return sums
}

describe.skipIf(!hasPostgres)('a gateway on PostgreSQL', () => {
  test('charges concurrent requests exactly, and refuses what the balance does not cover', async () => {
    const { url, scenario, app } = await startGateway(80)
    await using _ = scenario
    const before = await chargesOf(url)
    const replies = await Promise.all(
      Array.from({ length: 40 }, () => app.chat({ ...chatRequest, store: true })),
    )
    expect(replies.map(({ status }) => status)).toEqual(replies.map(() => 200))
    expect((await chargesOf(url)) - before).toBe(40)
    const sums = await sumsOf(url)
    expect(sums).toEqual({
      balance: String(1_000_000_000 - replyCost * (before + 40)),
      reserved: '0',
      entries: sums?.balance ?? '',
    })
    expect(await execute(url, 'SELECT id FROM completions')).toHaveLength(40)
    await execute(url, `UPDATE organizations SET balance = ${maxCost - 1}`)
    expect((await app.chat(chatRequest)).status).toBe(402)
  })

  test('fails closed while the server is stopped, and recovers without a restart', async () => {
    const { server, url, scenario, app } = await startGateway(200)
    await using _ = scenario
    const asked = scenario.acme.requests.length
    await server.stop('SIGINT')
    const refused = await Promise.all(Array.from({ length: 5 }, () => app.chat(chatRequest)))
    for (const reply of refused) {
      expect(reply.status).toBe(503)
      expect(reply.headers.get('retry-after')).toBe('1')
    }
    expect((await app.request('/readyz')).status).toBe(503)
    expect((await app.request('/livez')).status).toBe(200)
    expect(scenario.acme.requests).toHaveLength(asked)
    await server.start()
    await waitUntil(async () => (await app.chat(chatRequest)).ok, 'a request that succeeds again')
    await waitUntil(async () => (await app.request('/readyz')).ok, 'readiness')
    await waitUntil(async () => (await sumsOf(url))?.reserved === '0', 'no reservation')
    const sums = await sumsOf(url)
    expect(sums?.balance).toBe(sums?.entries)
    expect(app.lines.join('')).not.toContain('weir@')
    const unshared = app.lines.filter((line) => line.includes('Background runs cannot be shared'))
    expect(unshared.length).toBeLessThanOrEqual(1)
  })

  test('keeps what it has stored when it is started again, and settles what a killed one left open', async () => {
    const { url, scenario, app } = await startGateway(20)
    const { id } = (await (await app.chat({ ...chatRequest, store: true })).json()) as { readonly id: string }
    await scenario[Symbol.asyncDispose]()
    const [owner] = await execute<{ id: string }>(url, 'SELECT id FROM organizations')
    await execute(
      url,
      `WITH reserved AS (UPDATE organizations SET reserved = 500) INSERT INTO reservations
        (request_id, organization_id, amount, prompt_cost, prompt_tokens, request) VALUES ('req_1', $1, 500, 100, 7, '')`,
      [owner?.id],
    )
    const before = await sumsOf(url)
    await using next = await startApp({ database: new Secret(url) })
    expect((await next.request(`/v1/chat/completions/${id}`)).status).toBe(200)
    const after = await sumsOf(url)
    expect([Number(before?.balance) - Number(after?.balance), after?.reserved]).toEqual([100, '0'])
    expect(after?.balance).toBe(after?.entries)
  })

  test('shares its database with others', async () => {
    const { url, scenario, app } = await startGateway(20)
    await using _ = scenario
    await using other = await startApp({ database: new Secret(url) })
    const { id } = (await (await app.chat({ ...chatRequest, store: true })).json()) as { readonly id: string }
    expect((await other.request(`/v1/chat/completions/${id}`)).status).toBe(200)
    expect(await execute(url, 'SELECT id FROM processes')).toHaveLength(2)
  })

  test('does not share its database with a server of an earlier version', async () => {
    const { url, scenario } = await startGateway(20)
    await scenario[Symbol.asyncDispose]()
    expect(await execute(url, 'SELECT id FROM processes')).toHaveLength(0)
    const earlier = new Client({ connectionString: url })
    await earlier.connect()
    await earlier.query({ text: 'BEGIN' })
    await earlier.query({ text: 'SELECT pg_advisory_xact_lock(7239118, hashtext(current_schema()))' })
    await expect(startApp({ database: new Secret(url) })).rejects.toThrow(
      'is in use by a weir server of an earlier version',
    )
    await earlier.end()
    await using _ = await startApp({ database: new Secret(url) })
  })

  test('applies a revocation by a command soon', async () => {
    const { url, scenario, app } = await startGateway(60)
    await using _ = scenario
    expect((await app.chat(chatRequest)).status).toBe(200)
    await execute(url, 'UPDATE api_keys SET revoked_at = 1')
    await waitUntil(async () => (await app.request('/v1/models')).status === 401, 'a rejection')
  })
})
