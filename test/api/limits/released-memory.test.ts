import { expect, test } from 'bun:test'
import { firstChunks, cancelledRun, queueRun, waitForRun } from '../../support/background.ts'
import { chunks, streamReply, jsonReply } from '../../support/chat-fixtures.ts'
import { heldBytes, openUnfinishedRequest, waitForHeldBytes, waitForRelease } from '../../support/memory.ts'
import { replayResponse, postResponse, createResponse, responsesPath } from '../../support/responses.ts'
import { chatRequest, type Scenario, startScenario } from '../../support/scenario.ts'
import { breakOff, hang, json, reset, type Script, silence } from '../../support/script.ts'
import { storeCompletion, storedPath } from '../../support/stored-completions.ts'

const long = 'x'.repeat(200_000)
const longRequest = { ...chatRequest, messages: [{ role: 'user', content: long }] }

type Ending = (scenario: Scenario) => Promise<unknown>

const endings: readonly (readonly [string, Script, Ending])[] = [
  ['a complete reply', jsonReply(), async ({ app }) => (await app.chat(longRequest)).text()],
  [
    'a streamed reply',
    streamReply(),
    async ({ app }) => (await app.chat({ ...longRequest, stream: true })).text(),
  ],
  [
    'a body that is not JSON',
    jsonReply(),
    async ({ app }) => expect((await app.chat({}, { body: `{${long}` })).status).toBe(400),
  ],
  [
    'an invalid request',
    jsonReply(),
    async ({ app }) => expect((await app.chat({ ...longRequest, n: -1 })).status).toBe(400),
  ],
  [
    'an unknown model',
    jsonReply(),
    async ({ app }) => expect((await app.chat({ ...longRequest, model: 'no/one' })).status).toBe(404),
  ],
  [
    'an unknown previous response',
    jsonReply(),
    async ({ app }) =>
      expect((await postResponse(app, { input: long, previous_response_id: 'resp_none' })).status).toBe(400),
  ],
  [
    'a client that disconnects in the middle of its body',
    jsonReply(),
    async ({ app }) => {
      const connection = await openUnfinishedRequest(app, 'content-length: 300000')
      await waitForHeldBytes(app, (bytes) => bytes === 300_000)
      connection.reset()
    },
  ],
  [
    'a client that disconnects in the middle of its chunked body',
    jsonReply(),
    async ({ app }) => {
      const connection = await openUnfinishedRequest(app, 'transfer-encoding: chunked', '9\r\n{"model":\r\n')
      await waitForHeldBytes(app, (bytes) => bytes === 9)
      connection.reset()
    },
  ],
  [
    'a stream whose client disconnects',
    chunks(firstChunks, hang),
    async ({ app }) => {
      const aborting = new AbortController()
      await app.chat({ ...longRequest, stream: true }, { signal: aborting.signal })
      expect(await heldBytes(app)).toBeGreaterThan(long.length)
      aborting.abort()
    },
  ],
  [
    'a client that disconnects before its reply',
    silence,
    async ({ app, acme }) => {
      const aborting = new AbortController()
      const reply = app.chat(longRequest, { signal: aborting.signal }).catch(() => {})
      await acme.request(0)
      expect(await heldBytes(app)).toBeGreaterThan(long.length)
      aborting.abort()
      await reply
    },
  ],
  ['a provider that closes the connection', reset, async ({ app }) => (await app.chat(longRequest)).text()],
  [
    'a provider that rejects the request',
    json({ error: { message: 'No.' } }, { status: 400 }),
    async ({ app }) => (await app.chat(longRequest)).text(),
  ],
  [
    'a stream that breaks',
    chunks(firstChunks, breakOff),
    async ({ app }) => (await app.chat({ ...longRequest, stream: true })).text(),
  ],
  [
    'a response that follows another',
    jsonReply(),
    async ({ app }) => {
      const { id } = await createResponse(app, { input: long })
      await createResponse(app, { previous_response_id: id })
    },
  ],
  [
    'a background run',
    streamReply(),
    async ({ app }) => waitForRun(app, (await queueRun(app, { input: long })).id),
  ],
  [
    'a background run that is cancelled',
    silence,
    async ({ app, acme }) => {
      const { id } = await queueRun(app, { input: long })
      await acme.request(0)
      expect(await heldBytes(app)).toBeGreaterThan(long.length)
      await cancelledRun(app, id)
    },
  ],
  [
    'a replay',
    jsonReply(),
    async ({ app }) => {
      const { id } = await createResponse(app, { instructions: long })
      expect((await replayResponse(app, id)).types.at(-1)).toBe('response.completed')
    },
  ],
  [
    'a replay that is not read',
    jsonReply(),
    async ({ app }) => {
      const { id } = await createResponse(app, { instructions: long })
      const reply = await app.request(`${responsesPath}/${id}?stream=true`)
      await reply.body?.cancel()
    },
  ],
  [
    'reading stored objects',
    jsonReply(),
    async ({ app }) => {
      const { id } = await storeCompletion(app, longRequest)
      const { id: response } = await createResponse(app, { instructions: long, input: long })
      for (const path of [
        storedPath,
        `${storedPath}/${id}`,
        `${storedPath}/${id}/messages`,
        `${responsesPath}/${response}`,
        `${responsesPath}/${response}/input_items`,
      ]) {
        expect((await app.request(path, { method: 'HEAD' })).status).toBe(200)
        expect((await (await app.request(path)).text()).length).toBeGreaterThan(100)
        await (await app.request(path)).body?.cancel()
      }
    },
  ],
]

test.each(endings)('the bytes of a request are released after %s', async (_, script, ending) => {
  await using scenario = await startScenario(script)
  await ending(scenario)
  await waitForRelease(scenario.app)
})
