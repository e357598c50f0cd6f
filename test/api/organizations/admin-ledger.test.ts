import { expect, test } from 'bun:test'
import { chatRequest } from '../../support/scenario.ts'
import { parseUsd } from '../../../src/lib/usd.ts'
import { adminKey, requestAdmin, startAdmin } from '../support/admin.ts'

type Entry = Readonly<
  Record<'id' | 'kind' | 'amount_usd' | 'created_at', string> &
    Record<'balance_usd' | 'request_id' | 'note', string | null>
>

const formula = '=1+1, "two"'

/** A gateway with three charges and two credits, and another organization. */
async function startLedger() {
  const scenario = await startAdmin()
  const { app } = scenario
  await requestAdmin(app, 'POST', 'organizations', { body: { name: 'globex' } })
  await requestAdmin(app, 'POST', 'organizations/globex/credit', { body: { amount: '3', note: 'of globex' } })
  const requests: string[] = []
  for (let count = 0; count < 3; count++) {
    const reply = await app.chat(chatRequest)
    expect(reply.status).toBe(200)
    requests.unshift(reply.headers.get('x-request-id') ?? '')
    await reply.text()
  }
  await requestAdmin(app, 'POST', 'organizations/default/credit', {
    body: { amount: '-0.000000001', note: formula },
  })
  const list = async (query = '') => {
    const { status, body } = await requestAdmin(app, 'GET', `organizations/default/ledger${query}`)
    expect(status).toBe(200)
    return body as typeof body & { readonly data: readonly Entry[] }
  }
  const get = (path: string, headers: Record<string, string> = {}) =>
    app.request(`/admin/organizations/${path}`, {
      headers: { authorization: `Bearer ${adminKey}`, ...headers },
    })
  return { scenario, app, requests, list, get, [Symbol.asyncDispose]: () => scenario[Symbol.asyncDispose]() }
}

test('a ledger lists each charge with its request and each credit with its note, and adds up to the balance', async () => {
  await using ledger = await startLedger()
  const { app, requests, list } = ledger
  const { data, balance_usd, ...page } = await list()
  expect(page).toEqual({
    object: 'list',
    first_id: data[0]?.id ?? '',
    last_id: data.at(-1)?.id ?? '',
    has_more: false,
  })
  expect(data.map(({ kind }) => kind)).toEqual(['credit', 'charge', 'charge', 'charge', 'credit'])
  expect(data.map(({ request_id }) => request_id)).toEqual([null, ...requests, null])
  expect(data[0]).toEqual({
    object: 'ledger_entry',
    id: expect.stringMatching(/^led_/),
    created_at: expect.stringMatching(/Z$/),
    kind: 'credit',
    amount_usd: '-0.000000001',
    balance_usd: balance_usd as string,
    request_id: null,
    note: formula,
  } as never)
  const sum = data.reduce((total, { amount_usd }) => total + (parseUsd(amount_usd) ?? 0n), 0n)
  expect(sum).toBe(parseUsd(String(balance_usd)) ?? 0n)
  const { body: organization } = await requestAdmin(app, 'GET', 'organizations/default')
  expect(organization.balance_usd).toBe(balance_usd)
  const { status } = await requestAdmin(app, 'GET', `requests/${requests[0]}`)
  expect(status).toBe(200)
})

test('the pages, the kinds and the periods of a ledger are its parts', async () => {
  await using ledger = await startLedger()
  const { list } = ledger
  const { data } = await list()
  const first = await list('?limit=2')
  expect(first).toMatchObject({ data: data.slice(0, 2), has_more: true })
  const second = await list(`?limit=3&after=${String(first.last_id)}`)
  expect(second).toMatchObject({ data: data.slice(2), has_more: false })
  const credits = await list('?kind=credit')
  expect(credits.data.map(({ id }) => id)).toEqual([data[0]?.id ?? '', data[4]?.id ?? ''])
  expect((await list('?start_time=4000000000')).data).toEqual([])
  expect((await list('?end_time=1')).data).toEqual([])
  expect((await list('?end_time=4000000000')).data).toEqual([...data])
})

test('a ledger is a CSV file by its format or by Accept', async () => {
  await using ledger = await startLedger()
  const { list, get } = ledger
  const { data } = await list()
  const byFormat = await get('default/ledger?format=csv')
  expect(byFormat.headers.get('content-type')).toBe('text/csv; charset=utf-8')
  expect(byFormat.headers.get('content-disposition')).toMatch(
    /^attachment; filename="weir-ledger-org_\w+\.csv"$/,
  )
  const text = await byFormat.text()
  const lines = text.split('\r\n')
  expect(lines).toHaveLength(data.length + 2)
  expect(lines[0]).toBe('id,created_at,kind,amount_usd,balance_usd,request_id,note')
  const [newest, charge] = data
  expect(lines[1]).toBe(
    `${newest?.id},${newest?.created_at},credit,-0.000000001,${newest?.balance_usd},,"'=1+1, ""two"""`,
  )
  expect(lines[2]).toBe(
    `${charge?.id},${charge?.created_at},charge,${charge?.amount_usd},${charge?.balance_usd},${charge?.request_id},`,
  )
  expect(await (await get('default/ledger', { accept: 'text/csv' })).text()).toBe(text)
  expect(
    (await get('default/ledger?format=json', { accept: 'text/csv' })).headers.get('content-type'),
  ).toContain('application/json')
  expect(await (await get('default/ledger?format=csv&limit=1')).text()).toBe(
    `${lines.slice(0, 2).join('\r\n')}\r\n`,
  )
  expect(await (await get('default/ledger?format=csv&end_time=1')).text()).toBe(`${lines[0]}\r\n`)
})

test('a CSV file has every entry of a ledger, however many there are', async () => {
  await using ledger = await startLedger()
  const { scenario, get } = ledger
  const [organization] = (await scenario.billing.organizations.list()).filter(
    ({ name }) => name === 'default',
  )
  const numbers =
    'WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 100001)'
  const ids = "'led_' || substr('00000000000000000000000000' || n, -32)"
  await scenario.billing.rows(
    `${numbers} INSERT INTO ledger (id, organization_id, created_at, kind, amount)
      SELECT ${ids}, '${organization?.id}', 1, 'credit', 1 FROM numbers`,
  )
  const text = await (await get('default/ledger?format=csv')).text()
  expect(text.trimEnd().split('\r\n')).toHaveLength(1 + 5 + 100_001)
})

test('a ledger is the operator’s alone, and has no entry of another organization', async () => {
  await using ledger = await startLedger()
  const { app, list, get } = ledger
  for (const format of ['json', 'csv']) {
    const reply = await app.request(`/admin/organizations/default/ledger?format=${format}`)
    expect(reply.status).toBe(401)
    expect(await reply.json()).toMatchObject({ error: { code: 'admin_key_required' } })
  }
  const own = await (await get('globex/ledger?format=csv')).text()
  expect(own.trimEnd().split('\r\n')).toHaveLength(2)
  expect(own).toContain(',credit,3.00,3.00,,of globex')
  expect(JSON.stringify(await list())).not.toContain('globex')
  // A cursor of another organization is only a place in time.
  const { body } = await requestAdmin(app, 'GET', `organizations/globex/ledger?after=led_${'f'.repeat(32)}`)
  expect((body.data as readonly Entry[]).map(({ note }) => note)).toEqual(['of globex'])
})

test.each([
  ['default/ledger?after=req_1', 400, 'after'],
  ['default/ledger?limit=101', 400, 'limit'],
  ['default/ledger?format=csv&limit=100001', 400, 'limit'],
  ['default/ledger?kind=gift', 400, 'kind'],
  ['default/ledger?format=xml', 400, 'format'],
  ['nobody/ledger', 404, null],
  ['nobody/ledger?format=csv', 404, null],
])('GET /admin/organizations/%s is %i', async (path, status, param) => {
  await using scenario = await startAdmin()
  const reply = await requestAdmin(scenario.app, 'GET', `organizations/${path}`)
  expect(reply).toMatchObject({ status, body: { error: { param } } })
})
