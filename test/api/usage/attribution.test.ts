import { describe, expect, test } from 'bun:test'
import { queueRunRequest, waitForRun } from '../../support/background.ts'
import { type BillingScenario, startBillingScenario } from '../../support/billing-scenario.ts'
import { jsonReply, streamReply } from '../../support/chat-fixtures.ts'
import { messageRequest } from '../../support/messages.ts'
import { chatRequest } from '../../support/scenario.ts'
import { requestAdmin, startAdmin } from '../support/admin.ts'
import { startOnce } from '../../support/start-once.ts'

/** Creates a project, and a key in it. */
async function startProject({ app }: BillingScenario) {
  const project = await requestAdmin(app, 'POST', 'projects', {
    body: { organization: 'default', name: 'river' },
  })
  const id = String(project.body.id)
  const key = await requestAdmin(app, 'POST', 'keys', {
    body: { organization: 'default', name: 'agent', project: id },
  })
  const headers = { authorization: `Bearer ${String(key.body.key)}` }
  return { id, key: String(key.body.id), headers }
}

test('a usage row has the project of the key at the time of the request, and the session', async () => {
  await using paid = await startAdmin()
  const { app, billing } = paid
  const { id, key, headers } = await startProject(paid)
  const rowOf = async (reply: Response) => billing.usageOf(reply.headers.get('x-request-id') ?? '')

  const first = await app.chat(chatRequest, { headers: { ...headers, 'x-session-id': 's'.repeat(300) } })
  expect(first.status).toBe(200)
  expect(await rowOf(first)).toMatchObject({ key_id: key, project_id: id, session: 's'.repeat(256) })
  const rejected = await app.chat({ model: 1 }, { headers })
  expect(rejected.status).toBe(400)
  expect(await rowOf(rejected)).toMatchObject({ key_id: key, project_id: id, session: null })

  await requestAdmin(app, 'PATCH', `keys/${key}`, { body: { project: null } })
  const moved = await app.chat(chatRequest, { headers })
  expect(await rowOf(moved)).toMatchObject({ key_id: key, project_id: null })
  expect(await rowOf(first)).toMatchObject({ project_id: id })
})

test('metrics name neither users, sessions and tags nor projects', async () => {
  await using paid = await startAdmin()
  const { id, headers } = await startProject(paid)
  const labels = {
    ...headers,
    'x-session-id': 'a-session',
    'x-openwebui-user-id': 'a-user',
    'x-weir-tags': 'a-tag',
  }
  expect((await paid.app.chat(chatRequest, { headers: labels })).status).toBe(200)
  await paid.billing.waitForUsage(1)
  const metrics = await (await paid.app.request('/metrics')).text()
  expect(metrics).toContain('acme/river')
  for (const text of ['a-session', 'a-user', 'a-tag', id]) expect(metrics).not.toContain(text)
})

test('a background run is recorded with the project and the session of the request that created it', async () => {
  await using paid = await startAdmin(streamReply())
  const { app, billing } = paid
  const { id, headers } = await startProject(paid)
  const labelled = { headers: { ...headers, session_id: 'codex-1' } }
  const run = await queueRunRequest(app, {}, labelled)
  await waitForRun(app, run.id, { headers })
  expect(await billing.usageOf(run.request)).toMatchObject({
    project_id: id,
    session: 'codex-1',
    status: 200,
  })
})

const inputs = { input: 'How high is it?', model: 'acme/river' }

/** How a client sends the text in a header. */
const utf8 = (text: string) => Buffer.from(text).toString('latin1')

describe('a usage row has', () => {
  const started = startOnce(() => startBillingScenario(jsonReply()))

  type Case = readonly [what: string, body: object, headers: Record<string, string>, row: object]
  const cases: readonly Case[] = [
    [
      'the user of the body, before all others',
      { user: 'ada', safety_identifier: 'b' },
      { 'x-litellm-end-user-id': 'c' },
      { user: 'ada' },
    ],
    [
      'the safety identifier',
      { user: '', safety_identifier: 'b' },
      { 'x-litellm-end-user-id': 'c' },
      { user: 'b' },
    ],
    [
      'the user of LiteLLM',
      { safety_identifier: 7 },
      { 'x-openwebui-user-id': 'd', 'x-litellm-end-user-id': 'c' },
      { user: 'c' },
    ],
    ['the user of Open WebUI', {}, { 'x-openwebui-user-id': 'd' }, { user: 'd' }],
    [
      'what can be stored of a user',
      { safety_identifier: `a\0\ud800${'x'.repeat(300)}` },
      {},
      { user: `a\ufffd\ufffd${'x'.repeat(253)}` },
    ],
    [
      'no user and no session where the texts are empty',
      { user: '' },
      { 'x-session-id': '', 'x-openwebui-user-id': '' },
      { user: null, session: null },
    ],
    ['the session of the first header', {}, { session_id: 'b', 'x-session-id': 'a' }, { session: 'a' }],
    ['the session of Claude Code', {}, { 'x-claude-code-session-id': 'cc' }, { session: 'cc' }],
    ['the tags of a header', {}, { 'x-weir-tags': 'red, blue,,red' }, { tags: '["red","blue"]' }],
    ['the text of a header in UTF-8', {}, { 'x-weir-tags': utf8('größe') }, { tags: '["größe"]' }],
    ['the text of a header in Latin-1', {}, { 'x-session-id': 'größe' }, { session: 'größe' }],
    ['the tags of LiteLLM', {}, { 'x-litellm-tags': 'red' }, { tags: '["red"]' }],
    [
      'the tags of the body and four of a header',
      { tags: ['red', 'a'] },
      { 'x-weir-tags': 'a,b,c,d,e,f' },
      { tags: '["red","a","b","c","d","e"]' },
    ],
    [
      '128 characters of a tag of a header',
      {},
      { 'x-weir-tags': 'x'.repeat(200) },
      { tags: JSON.stringify(['x'.repeat(128)]) },
    ],
  ]

  test.each(cases)('%s', async (_, body, headers, row) => {
    const paid = await started()
    const reply = await paid.app.chat({ ...chatRequest, ...body }, { headers })
    expect(reply.status).toBe(200)
    expect(await paid.billing.usageOf(reply.headers.get('x-request-id') ?? '')).toMatchObject(row)
  })

  const uuid = '0b0e3c3e-6b0e-4c3e-8b0e-3c3e6b0e4c3e'
  const code = (fields: object) => JSON.stringify({ session_id: 's', ...fields })
  test.each([
    ['a user', 'ada', { user: 'ada', session: null }],
    ['the account of Claude Code', code({ device_id: 'd', account_uuid: 'a' }), { user: 'a', session: 's' }],
    [
      'its device where there is no account',
      code({ device_id: 'd', account_uuid: '' }),
      { user: 'd', session: 's' },
    ],
    [
      'the form of its earlier versions',
      `user_ab_account_${uuid}_session_${uuid}`,
      { user: `user_ab_account_${uuid}`, session: uuid },
    ],
    ['another JSON', '{"id":1}', { user: '{"id":1}', session: null }],
    ['no JSON', '{', { user: '{', session: null }],
  ])('the user and the session of the metadata of a message: %s', async (_, user_id, row) => {
    const paid = await started()
    const reply = await paid.app.request('/v1/messages', {
      body: { ...messageRequest, metadata: { user_id } },
    })
    expect(reply.status).toBe(200)
    expect(await paid.billing.usageOf(reply.headers.get('x-request-id') ?? '')).toMatchObject(row)
  })

  test.each([
    ['a completion', '/v1/completions', { prompt: 'How high', model: 'acme/river' }],
    ['an embedding', '/v1/embeddings', inputs],
    ['a response', '/v1/responses', inputs],
  ])('the user, the session and the tags of %s, also where it is rejected', async (_, path, body) => {
    const paid = await started()
    const headers = { 'x-openwebui-user-id': 'ada', 'x-session-id': 's', 'x-weir-tags': 'red' }
    const reply = await paid.app.request(path, { body: { ...body, model: 'acme/sea' }, headers })
    expect(reply.status).toBe(404)
    expect(await paid.billing.usageOf(reply.headers.get('x-request-id') ?? '')).toMatchObject({
      user: 'ada',
      session: 's',
      tags: '["red"]',
    })
  })
})
