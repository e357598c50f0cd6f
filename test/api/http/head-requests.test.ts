import { expect, test } from 'bun:test'
import { firstChunks, queueRun, waitForRun } from '../../support/background.ts'
import { chunks, streamReply } from '../../support/chat-fixtures.ts'
import { responsesPath } from '../../support/responses.ts'
import { startScenario } from '../../support/scenario.ts'
import { hang } from '../../support/script.ts'

test('HEAD on the events of an active run is answered immediately, and the run continues', async () => {
  await using scenario = await startScenario(chunks(firstChunks, hang))
  const { app, acme } = scenario
  const { id } = await queueRun(app)
  await acme.request(0)
  const reply = await app.request(`${responsesPath}/${id}?stream=true`, { method: 'HEAD' })
  expect(reply.status).toBe(200)
  expect(reply.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
  expect(await reply.text()).toBe('')
  expect(acme.requests).toHaveLength(1)
})

test('HEAD is answered with the status of GET and without a body, on every path', async () => {
  await using scenario = await startScenario(streamReply())
  const { app } = scenario
  const { id } = await queueRun(app)
  await waitForRun(app, id)
  const one = `${responsesPath}/${id}`
  const lists = ['/v1/models', '/v1/chat/completions', '/livez', '/readyz', '/metrics', '/openapi.json']
  for (const path of [...lists, one, `${one}?stream=true`, `${one}/input_items`, '/nope', responsesPath]) {
    const { status } = await app.request(path)
    const reply = await app.request(path, { method: 'HEAD' })
    expect([path, reply.status, await reply.text()]).toEqual([path, status, ''])
  }
  const missing = await app.request(`${responsesPath}/resp_none?stream=true`, { method: 'HEAD' })
  expect(missing.status).toBe(404)
})
