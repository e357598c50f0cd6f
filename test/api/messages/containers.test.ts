import { expect, test } from 'bun:test'
import { sharedDatabase } from '../../support/limits.ts'
import {
  anthropicReply,
  anthropicStream,
  messageRequest,
  readEvents,
  readMessage,
  sendMessage,
  startAnthropicScenario,
} from '../../support/messages.ts'
import { json } from '../../support/script.ts'

const blocks = [{ type: 'text', text: 'It.' }] as const
const container = { id: 'container_1', expires_at: '2026-12-27T00:00:00Z' }
const named = anthropicReply(blocks, { container })
const plain = anthropicReply(blocks)

test.each<[string, unknown]>([
  ['by its id', 'container_1'],
  ['with skills', { id: 'container_1', skills: [{ type: 'anthropic', skill_id: 'pptx' }] }],
])('a container that an answer has named goes back to the provider, %s', async (_name, reused) => {
  await using scenario = await startAnthropicScenario([named, plain])
  expect(await readMessage(await sendMessage(scenario.app))).toMatchObject({ container })
  const reply = await sendMessage(scenario.app, { ...messageRequest, container: reused })
  expect(reply.status).toBe(200)
  expect(scenario.acme.requests[1]?.body).toMatchObject({ container: reused })
})

test('the same of a streamed answer', async () => {
  await using scenario = await startAnthropicScenario([anthropicStream(blocks, { container }), plain])
  const events = await readEvents(await sendMessage(scenario.app, { ...messageRequest, stream: true }))
  expect(events).toContainEqual(
    expect.objectContaining({ type: 'message_delta', delta: expect.objectContaining({ container }) }),
  )
  const reply = await sendMessage(scenario.app, { ...messageRequest, container: 'container_1' })
  expect(reply.status).toBe(200)
  expect(scenario.acme.requests[1]?.body).toMatchObject({ container: 'container_1' })
})

test.each<[string, unknown]>([
  ['container', 'container_1'],
  ['container.id', { id: 'container_1', skills: [] }],
])(
  'the container of another organization is a 400 that names %s, and reaches no provider',
  async (param, reused) => {
    const { location, keyOf } = await sharedDatabase()
    await using scenario = await startAnthropicScenario([named, plain], { database: location })
    expect((await sendMessage(scenario.app)).status).toBe(200)
    const body = { ...messageRequest, container: reused }
    const options = { method: 'POST', body, headers: await keyOf('other') }
    const refused = await scenario.app.request('/v1/messages', options)
    expect(refused.status).toBe(400)
    expect(await refused.text()).toContain(`Unknown container in '${param}'`)
    expect(scenario.acme.requests).toHaveLength(1)
  },
)

test('a container that no answer has named is a 400, and every container is one to count tokens', async () => {
  await using scenario = await startAnthropicScenario([named, plain])
  await sendMessage(scenario.app)
  for (const container of ['container_2', 'container_1\u0000', '\ud800']) {
    const unknown = await sendMessage(scenario.app, { ...messageRequest, container })
    expect(unknown.status).toBe(400)
  }
  const body = { ...messageRequest, container: 'container_1' }
  const counted = await scenario.app.request('/v1/messages/count_tokens', { method: 'POST', body })
  expect(counted.status).toBe(400)
  expect(await counted.text()).toContain("Unsupported parameter: 'container'")
  expect(scenario.acme.requests).toHaveLength(1)
})

test('only the provider that has the container is asked, and no other one where it fails', async () => {
  const failing = json({ error: { type: 'api_error', message: 'Down.' } }, { status: 500 })
  await using scenario = await startAnthropicScenario([failing, plain], { other: [named, plain, failing] })
  const { app, acme, other } = scenario
  expect(await readMessage(await sendMessage(app))).toMatchObject({ container })
  const body = { ...messageRequest, container: 'container_1' }
  expect((await sendMessage(app, body)).status).toBe(200)
  expect((await sendMessage(app, body)).status).toBe(502)
  expect([acme.requests.length, other.requests.length]).toEqual([1, 3])
})
