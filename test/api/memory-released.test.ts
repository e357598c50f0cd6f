import { expect, test } from 'bun:test'
import { begun, cancelled, queueRun, runOver } from '../support/background.ts'
import { chunks, streamed, whole } from '../support/chat-answers.ts'
import { heldBytes, unfinished, untilHeld, untilReleased } from '../support/memory.ts'
import { replayed, respond, responded, responsesPath } from '../support/responses.ts'
import { question, type Scenario, startScenario } from '../support/scenario.ts'
import { breakOff, hang, json, reset, type Script, silence } from '../support/script.ts'
import { store, storedPath } from '../support/stored.ts'

const long = 'x'.repeat(200_000)
const longQuestion = { ...question, messages: [{ role: 'user', content: long }] }

type Ending = (scenario: Scenario) => Promise<unknown>

const endings: readonly (readonly [string, Script, Ending])[] = [
  ['a complete reply', whole(), async ({ app }) => (await app.chat(longQuestion)).text()],
  [
    'a streamed reply',
    streamed(),
    async ({ app }) => (await app.chat({ ...longQuestion, stream: true })).text(),
  ],
  [
    'a body that is not JSON',
    whole(),
    async ({ app }) => expect((await app.chat({}, { body: `{${long}` })).status).toBe(400),
  ],
  [
    'an invalid request',
    whole(),
    async ({ app }) => expect((await app.chat({ ...longQuestion, n: -1 })).status).toBe(400),
  ],
  [
    'an unknown model',
    whole(),
    async ({ app }) => expect((await app.chat({ ...longQuestion, model: 'no/one' })).status).toBe(404),
  ],
  [
    'an unknown previous response',
    whole(),
    async ({ app }) =>
      expect((await respond(app, { input: long, previous_response_id: 'resp_none' })).status).toBe(400),
  ],
  [
    'a client that disconnects in the middle of its body',
    whole(),
    async ({ app }) => {
      const connection = await unfinished(app, 'content-length: 300000')
      await untilHeld(app, (bytes) => bytes === 300_000)
      connection.reset()
    },
  ],
  [
    'a client that disconnects in the middle of its chunked body',
    whole(),
    async ({ app }) => {
      const connection = await unfinished(app, 'transfer-encoding: chunked', '9\r\n{"model":\r\n')
      await untilHeld(app, (bytes) => bytes === 9)
      connection.reset()
    },
  ],
  [
    'a stream whose client disconnects',
    chunks(begun, hang),
    async ({ app }) => {
      const leaving = new AbortController()
      await app.chat({ ...longQuestion, stream: true }, { signal: leaving.signal })
      expect(await heldBytes(app)).toBeGreaterThan(long.length)
      leaving.abort()
    },
  ],
  [
    'a client that disconnects before its reply',
    silence,
    async ({ app, acme }) => {
      const leaving = new AbortController()
      const reply = app.chat(longQuestion, { signal: leaving.signal }).catch(() => {})
      await acme.request(0)
      expect(await heldBytes(app)).toBeGreaterThan(long.length)
      leaving.abort()
      await reply
    },
  ],
  ['a provider that closes the connection', reset, async ({ app }) => (await app.chat(longQuestion)).text()],
  [
    'a provider that rejects the request',
    json({ error: { message: 'No.' } }, { status: 400 }),
    async ({ app }) => (await app.chat(longQuestion)).text(),
  ],
  [
    'a stream that breaks',
    chunks(begun, breakOff),
    async ({ app }) => (await app.chat({ ...longQuestion, stream: true })).text(),
  ],
  [
    'a response that follows another',
    whole(),
    async ({ app }) => {
      const { id } = await responded(app, { input: long })
      await responded(app, { previous_response_id: id })
    },
  ],
  [
    'a background run',
    streamed(),
    async ({ app }) => runOver(app, (await queueRun(app, { input: long })).id),
  ],
  [
    'a background run that is cancelled',
    silence,
    async ({ app, acme }) => {
      const { id } = await queueRun(app, { input: long })
      await acme.request(0)
      expect(await heldBytes(app)).toBeGreaterThan(long.length)
      await cancelled(app, id)
    },
  ],
  [
    'a replay',
    whole(),
    async ({ app }) => {
      const { id } = await responded(app, { instructions: long })
      expect((await replayed(app, id)).types.at(-1)).toBe('response.completed')
    },
  ],
  [
    'a replay that is not read',
    whole(),
    async ({ app }) => {
      const { id } = await responded(app, { instructions: long })
      const reply = await app.request(`${responsesPath}/${id}?stream=true`)
      await reply.body?.cancel()
    },
  ],
  [
    'reading stored objects',
    whole(),
    async ({ app }) => {
      const { id } = await store(app, longQuestion)
      const { id: response } = await responded(app, { instructions: long, input: long })
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
  await untilReleased(scenario.app)
})
