import { expect, test } from 'bun:test'
import { jsonReply, streamReply } from '../../support/chat-fixtures.ts'
import { queueRun, waitForRun } from '../../support/background.ts'
import { messageRequest, sendMessage } from '../../support/messages.ts'
import { postResponse } from '../../support/responses.ts'
import { chatRequest, startScenario } from '../../support/scenario.ts'
import { json } from '../../support/script.ts'

const failed = json({ error: { message: 'No.' } }, { status: 500 })

test('a complete reply and a stream of each API name the route that serves them', async () => {
  await using scenario = await startScenario(jsonReply())
  const { app, acme } = scenario
  const replies = (stream: boolean) => [
    app.chat({ ...chatRequest, stream }),
    postResponse(app, { stream }),
    sendMessage(app, { ...messageRequest, stream }),
  ]
  const namesOf = async (stream: boolean) =>
    (await Promise.all(replies(stream))).map(({ headers }) => headers.get('x-weir-route'))
  expect(await namesOf(false)).toEqual(['acme/river-1', 'acme/river-1', 'acme/river-1'])
  acme.respondWith(streamReply())
  expect(await namesOf(true)).toEqual(['acme/river-1', 'acme/river-1', 'acme/river-1'])
})

test('a reply after a failover names the route that has served it', async () => {
  await using scenario = await startScenario(failed, { other: [jsonReply()] })
  const { headers } = await scenario.app.chat(chatRequest)
  expect(headers.get('x-weir-route')).toBe('other/river-2')
})

test('an error, a list and a queued run name no route', async () => {
  await using scenario = await startScenario(failed)
  const { app, acme } = scenario
  const error = await app.chat(chatRequest)
  expect([error.status, error.headers.get('x-weir-route')]).toEqual([502, null])
  expect((await app.request('/v1/models')).headers.get('x-weir-route')).toBeNull()
  acme.respondWith(streamReply())
  const queued = await postResponse(app, { background: true })
  expect([queued.status, queued.headers.get('x-weir-route')]).toEqual([200, null])
  const { id } = await queueRun(app)
  await waitForRun(app, id)
})

test('characters that a header cannot have are replaced in the name', async () => {
  const model = { routes: [{ provider: 'acme', model: '@cf/qwen3:8b é\t' }] }
  await using scenario = await startScenario(jsonReply(), { model })
  const { headers } = await scenario.app.chat(chatRequest)
  expect(headers.get('x-weir-route')).toBe('acme/@cf/qwen3:8b___')
})
