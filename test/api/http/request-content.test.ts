import { describe, expect, test } from 'bun:test'
import type { SettingsFile } from '../../../src/config/settings.ts'
import { firstKey } from '../../support/app.ts'
import { queueRunRequest, waitForRun } from '../../support/background.ts'
import { waitUntil } from '../../support/billing-database.ts'
import type { BillingScenario } from '../../support/billing-scenario.ts'
import { chatOutput, chunks, delta, jsonReply, streamReply } from '../../support/chat-fixtures.ts'
import { connectDatabase } from '../../support/database-connection.ts'
import { messageRequest } from '../../support/messages.ts'
import { readPieces } from '../../support/body-reader.ts'
import { chatRequest } from '../../support/scenario.ts'
import { breakOff, json, type Script } from '../../support/script.ts'
import { requestAdmin, startAdmin } from '../support/admin.ts'
import { embeddingReply, embeddingRequest, vectors } from '../support/embeddings.ts'
import { choice, completionReply, completionRequest } from '../support/text-completions.ts'

const keyId = firstKey.split('-')[2]!
const call = { id: 'call_1x7Kp2mQ9', name: 'look_up', arguments: ['{"place":"weir"}'] }
const output = chatOutput({
  text: ['Four ', 'metres.'],
  reasoning: ['Hm.'],
  calls: [call],
  finish: 'tool_calls',
})
const answered = {
  text: 'Four metres.',
  reasoning: 'Hm.',
  tool_calls: [{ id: 'call_1x7Kp2mQ9', name: 'look_up', arguments: '{"place":"weir"}' }],
  finish_reason: 'tool_calls',
}
const apis = ['chat_completions', 'responses', 'messages', 'completions', 'embeddings'] as const

/** A gateway whose first key has a content log. */
async function startLogged(scripts: Script | readonly Script[], settings: SettingsFile = {}) {
  const model = { supported_apis: [...apis] }
  const paid = await startAdmin(scripts, { model, settings, sweepInterval: 10 })
  await paid.billing.fund('default', '1', 'unmetered')
  const body = { content_log: true }
  expect(await requestAdmin(paid.app, 'PATCH', `keys/${keyId}`, { body })).toMatchObject({ body })
  return paid
}

/** Sends a request and returns its id. */
async function send({ app }: BillingScenario, path: string, body: object): Promise<string> {
  const reply = await app.request(`/v1/${path}`, { method: 'POST', body })
  await reply.text().catch(() => {})
  return reply.headers.get('x-request-id') ?? ''
}

async function contentOf({ app, billing }: BillingScenario, id: string) {
  expect(await billing.usageOf(id)).toBeDefined()
  const { status, body } = await requestAdmin(app, 'GET', `requests/${id}/content`)
  expect([status, body.object, body.id]).toEqual([200, 'request.content', id])
  return body
}

const response = { model: 'acme/river', input: 'How high is it?', store: false }

describe('the content of a request is kept', () => {
  test.each([
    ['a chat completion', 'chat/completions', chatRequest, jsonReply(output)],
    ['a streamed chat completion', 'chat/completions', { ...chatRequest, stream: true }, streamReply(output)],
    ['a response', 'responses', response, jsonReply(output)],
    ['a streamed response', 'responses', { ...response, stream: true }, streamReply(output)],
    ['a message', 'messages', messageRequest, jsonReply(output)],
    ['a streamed message', 'messages', { ...messageRequest, stream: true }, streamReply(output)],
  ])('of %s, with its reasoning and its tool calls', async (_, path, body, script) => {
    await using paid = await startLogged(script)
    const content = await contentOf(paid, await send(paid, path, body))
    expect(content).toMatchObject({ kept: true, request: body, response: [answered], error: null })
  })

  test('of a completion, and of an embedding request without the numbers', async () => {
    const completion = completionReply([choice('four', { finish_reason: 'stop' })])
    await using paid = await startLogged([completion, embeddingReply(vectors.slice(0, 1))])
    expect(await contentOf(paid, await send(paid, 'completions', completionRequest))).toMatchObject({
      request: completionRequest,
      response: [{ text: 'four', reasoning: '', tool_calls: [], finish_reason: 'stop' }],
    })
    expect(await contentOf(paid, await send(paid, 'embeddings', embeddingRequest))).toMatchObject({
      request: embeddingRequest,
      response: null,
      error: null,
    })
  })

  test('of a background run, with its input', async () => {
    await using paid = await startLogged(streamReply(output))
    const { id, request } = await queueRunRequest(paid.app, { ...response, store: true })
    await waitForRun(paid.app, id)
    const content = await contentOf(paid, request)
    expect(content.response).toEqual([answered])
    expect(JSON.stringify(content.request)).toContain('How high is it?')
  })

  test('of one that the provider rejects, with the sentence of the provider', async () => {
    const sentence = 'The word “purple” is not allowed here.'
    const rejected = json({ error: { message: sentence } }, { status: 400 })
    await using paid = await startLogged(rejected)
    const purple = { ...chatRequest, messages: [{ role: 'user', content: 'Is it purple?' }] }
    const id = await send(paid, 'chat/completions', purple)
    const { request, response: answer, error } = await contentOf(paid, id)
    expect({ request, answer }).toEqual({ request: purple, answer: null })
    expect(error).toContain(sentence)
    const { body } = await requestAdmin(paid.app, 'GET', `requests/${id}`)
    expect(body.provider_message).toBe('The word … is not allowed here.')
    expect(JSON.stringify(body)).not.toContain('purple')
  })

  test('of a stream that breaks off, as far as it was delivered', async () => {
    const delivered = Promise.withResolvers<void>()
    await using paid = await startLogged(chunks([delta({ content: 'Four' }), delivered.promise], breakOff))
    const reply = await paid.app.chat({ ...chatRequest, stream: true })
    const reader = readPieces(reply)
    await reader.until('Four')
    delivered.resolve()
    await reader.rest()
    const content = await contentOf(paid, reply.headers.get('x-request-id') ?? '')
    expect(content.response).toMatchObject([{ text: 'Four', finish_reason: null }])
    expect(content.error).toContain('the connection was closed')
  })

  test('up to a limit, with what it lacks', async () => {
    const long = 'word '.repeat(100_000)
    await using paid = await startLogged(jsonReply(chatOutput({ text: [long] })))
    const url = `data:image/png;base64,${'iVBORw0KGgo'.repeat(10_000)}`
    const parts = [
      { type: 'image_url', image_url: { url } },
      { type: 'text', text: long },
    ]
    const body = { ...chatRequest, messages: [{ role: 'user', content: parts }] }
    const content = await contentOf(paid, await send(paid, 'chat/completions', body))
    const text = JSON.stringify(content)
    expect(text.length).toBeGreaterThan(500_000)
    expect(text.length).toBeLessThan(600_000)
    expect(text).toContain('more characters)')
    expect(text).toContain('… (cut)')
    expect(text).not.toContain('iVBORw0KGgo')
  })
})

describe('no content is kept', () => {
  test('of a key whose content log is off, or was switched off', async () => {
    await using paid = await startLogged([jsonReply(), jsonReply()])
    const first = await send(paid, 'chat/completions', chatRequest)
    await requestAdmin(paid.app, 'PATCH', `keys/${keyId}`, { body: { content_log: false } })
    const second = await send(paid, 'chat/completions', chatRequest)
    expect(await contentOf(paid, first)).toMatchObject({ kept: true })
    const none = { kept: false, request: null, response: null, error: null }
    expect(await contentOf(paid, second)).toMatchObject(none)
  })

  test('of a request that is sent to no provider', async () => {
    await using paid = await startLogged([])
    const id = await send(paid, 'chat/completions', { ...chatRequest, model: 'acme/none' })
    expect(await contentOf(paid, id)).toMatchObject({ kept: false })
  })

  test('for longer than the settings say', async () => {
    await using paid = await startLogged(jsonReply(), { retention: { content_log: '1s' } })
    const id = await send(paid, 'chat/completions', chatRequest)
    expect(await contentOf(paid, id)).toBeDefined()
    await waitUntil(async () => (await paid.billing.count('content_log')) === 0, 'the content is gone')
    expect(await contentOf(paid, id)).toMatchObject({ kept: false })
  })
})

test('only an admin key with the permission content reads it, and no list has it', async () => {
  await using paid = await startLogged(jsonReply(output))
  const id = await send(paid, 'chat/completions', chatRequest)
  await contentOf(paid, id)
  await using database = await connectDatabase(paid.database)
  const { key } = await database.adminKeys.create({
    name: 'ada',
    expiresAt: null,
    permissions: ['read', 'write'],
  })
  const read = (path: string, authorization: string) =>
    requestAdmin(paid.app, 'GET', path, { headers: { authorization } })
  const refused = await read(`requests/${id}/content`, `Bearer ${key.reveal()}`)
  expect([refused.status, refused.body.error]).toMatchObject([403, { code: 'admin_permission_required' }])
  expect((await read(`requests/${id}/content`, `Bearer ${firstKey}`)).status).toBe(401)
  const entries = await requestAdmin(paid.app, 'GET', 'audit_logs?event=content.read')
  const resource = { type: 'request', id, name: null }
  expect(entries.body.data).toMatchObject([
    { resource, organization: 'default', actor: { type: 'admin_key' } },
  ])
  expect(JSON.stringify(entries.body.data)).not.toContain('Four')
  for (const path of ['requests', `requests/${id}`]) {
    const { status, body } = await read(path, `Bearer ${key.reveal()}`)
    expect([status, JSON.stringify(body).includes('Four')]).toEqual([200, false])
  }
  expect((await requestAdmin(paid.app, 'GET', 'requests/req_none/content')).status).toBe(404)
})

test('the organization sees that a content log is on, and cannot change it', async () => {
  await using paid = await startLogged([])
  expect(await (await paid.app.request('/v1/organization')).json()).toMatchObject({ content_log: true })
  await requestAdmin(paid.app, 'PATCH', `keys/${keyId}`, { body: { permissions: ['admin'] } })
  const path = `/v1/organization/admin_api_keys/${keyId}`
  expect(await (await paid.app.request(path)).json()).toMatchObject({ id: keyId, content_log: true })
  const body = { name: 'mine', content_log: false }
  const refused = await paid.app.request('/v1/organization/admin_api_keys', { method: 'POST', body })
  expect([refused.status, await refused.json()]).toMatchObject([400, { error: { param: 'content_log' } }])
})
