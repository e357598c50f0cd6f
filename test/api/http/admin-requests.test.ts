import { expect, test } from 'bun:test'
import { jsonReply } from '../../support/chat-fixtures.ts'
import { chatRequest, providerKey } from '../../support/scenario.ts'
import { json } from '../../support/script.ts'
import { adminKey, requestAdmin, startAdmin } from '../support/admin.ts'

const down = json({ error: { message: 'The engine is overloaded.' } }, { status: 503 })
const quoting = `The value How high is it? of ${providerKey} is not supported.\nHow high is it?`

async function startWithRequests() {
  const paid = await startAdmin(
    [jsonReply(), down, jsonReply(), json({ error: { message: quoting } }, { status: 400 }), down, down],
    { settings: { retries: { attempts: 1 } } },
  )
  const send = async (changes: object = {}) => {
    const headers = { 'x-session-id': 'run-7' }
    const reply = await paid.app.chat({ ...chatRequest, ...changes }, { headers })
    await reply.text()
    return reply.headers.get('x-request-id')!
  }
  const plain = await send({ user: 'ada', tags: ['red'] })
  const retried = await send({ user: 'bob' })
  const rejected = await send({ seed: 1 })
  const failed = await send()
  const unknown = await send({ model: 'acme/none' })
  await paid.billing.waitForUsage(5)
  const list = async (query: string) => {
    const { status, body } = await requestAdmin(paid.app, 'GET', `requests?${query}`)
    return status === 200 ? (body.data as readonly { id: string }[]).map(({ id }) => id) : body
  }
  return { paid, list, plain, retried, rejected, failed, unknown }
}

test('finished requests are listed, the newest first, by each filter and page by page', async () => {
  const { paid, list, plain, retried, rejected, failed, unknown } = await startWithRequests()
  await using _ = paid
  expect(await list('')).toEqual([unknown, failed, rejected, retried, plain])
  const cases = [
    ['user=ada', [plain]],
    ['status=failed', [unknown, failed, rejected]],
    ['status=5xx', [failed]],
    ['status=404', [unknown]],
    ['error=upstream_unavailable', [failed]],
    ['error=model_not_found&status=4xx', [unknown]],
    ['model=acme/river&status=200', [retried, plain]],
    ['provider=acme', [failed, rejected, retried, plain]],
    ['provider=other', []],
    ['project=proj_1', []],
    ['session=run-7&status=200', [retried, plain]],
    ['organization=default&limit=1', [unknown]],
    [`after=${rejected}`, [retried, plain]],
    ['end_time=1', []],
    ['start_time=1&user=bob', [retried]],
  ] as const
  for (const [query, ids] of cases) expect([query, await list(query)]).toEqual([query, [...ids]])
  expect(await requestAdmin(paid.app, 'GET', 'requests?limit=2')).toMatchObject({
    body: { object: 'list', first_id: unknown, last_id: failed, has_more: true },
  })
  expect(await list('status=bad')).toMatchObject({ error: { param: 'status' } })
  expect(await list('after=bad')).toMatchObject({ error: { param: 'after' } })
  expect(await list('organization=none')).toMatchObject({
    error: { message: "There is no organization 'none'." },
  })
})

test('a request opens with its attempts, tokens, cost and times, and no sentence of it quotes the prompt', async () => {
  const { paid, plain, retried, rejected, failed } = await startWithRequests()
  await using _ = paid
  const open = async (id: string) => (await requestAdmin(paid.app, 'GET', `requests/${id}`)).body
  const route = { provider: 'acme', model: 'river-1' }
  const sentence = 'The provider acme failed: it returned status 503.'
  const ok = { ...route, outcome: 'ok', status: 200, ms: expect.any(Number) }
  const lost = {
    ...route,
    outcome: 'upstream_unavailable',
    status: 502,
    ms: expect.any(Number),
    message: sentence,
    provider_message: 'The engine is overloaded.',
  }
  expect(await open(plain)).toMatchObject({
    object: 'request',
    id: plain,
    created_at: expect.stringMatching(/Z$/),
    status: 200,
    error: null,
    message: null,
    organization: 'default',
    user: 'ada',
    session: 'run-7',
    project: null,
    tags: ['red'],
    api: 'chat',
    model: 'acme/river',
    provider: 'acme',
    upstream_model: 'river-1',
    stream: false,
    input_tokens: 12,
    cost_usd: expect.stringMatching(/^0\.0/),
    latency_ms: expect.any(Number),
    attempts: [ok],
    warnings: [],
  })
  expect(await open(retried)).toMatchObject({
    status: 200,
    message: null,
    provider_message: null,
    attempts: [lost, ok],
  })
  expect(await open(failed)).toMatchObject({
    status: 502,
    message: sentence,
    provider_message: 'The engine is overloaded.',
    attempts: [lost, lost],
  })
  const shown = await open(rejected)
  expect(shown).toMatchObject({
    status: 400,
    error: 'upstream_rejected',
    message: 'The provider rejected the request as invalid.',
    provider_message: 'The value … of [key] is not supported. …',
    attempts: [{ provider_message: 'The value … of [key] is not supported. …' }],
  })
  for (const text of ['How high', providerKey]) expect(JSON.stringify(shown)).not.toContain(text)
  expect((await open('req_none')).error).toMatchObject({ message: "There is no request 'req_none'." })
})

test('finished requests are only shown to an operator', async () => {
  await using paid = await startAdmin()
  for (const path of ['requests', 'requests/req_1']) {
    const headers = { authorization: `Bearer ${paid.app.key}` }
    expect((await requestAdmin(paid.app, 'GET', path, { headers })).status).toBe(401)
  }
  expect(
    (await requestAdmin(paid.app, 'GET', 'requests', { headers: { authorization: `Bearer ${adminKey}` } }))
      .status,
  ).toBe(200)
})

test('where users are recorded as hashes, their requests are found by their name and by their hash', async () => {
  await using paid = await startAdmin(jsonReply(), {
    settings: { user_hash_key: 'a-key-for-hashes-of-users' },
  })
  await (await paid.app.chat({ ...chatRequest, user: 'ada' })).text()
  await paid.billing.waitForUsage(1)
  const list = async (user: string) =>
    (await requestAdmin(paid.app, 'GET', `requests?user=${user}`)).body.data as readonly { user: string }[]
  const [named] = await list('ada')
  expect(named?.user).toMatch(/^user_/)
  expect(await list(named!.user)).toEqual([named!])
  expect(await list('bob')).toEqual([])
})
