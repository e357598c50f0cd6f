import { describe, expect, test } from 'bun:test'
import { framesOf, chatOutput, jsonReply } from '../../support/chat-fixtures.ts'
import { readStreamed } from '../../support/chat-reply.ts'
import { chatRequest, startScenario } from '../../support/scenario.ts'
import { events, json } from '../../support/script.ts'

const streamRequest = { ...chatRequest, stream: true }
const settings = { retries: { attempts: 0 }, breaker: { failures: 2 } }
const options = { patience: 20, settings, other: [jsonReply()], clock: () => 0 }

/** A stream that is silent until the caller has its first byte, and then says this. */
function silentUntil(gate: Promise<void>, frames: readonly string[]) {
  return events([gate, ...frames])
}

const failing = ['data: {"error":{"message":"No.","code":503}}\n\n']

describe('a route whose stream was opened before its first event', () => {
  test('counts as failed when that event is an error, and is skipped after the configured number of failures', async () => {
    const gates = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const scripts = gates.map(({ promise }) => silentUntil(promise, failing))
    await using scenario = await startScenario(scripts, options)
    for (const gate of gates) {
      const response = await scenario.app.chat(streamRequest)
      gate.resolve()
      const reply = await readStreamed(response)
      expect([reply.status, reply.error?.code]).toEqual([200, 'upstream_unavailable'])
    }
    expect(await (await scenario.app.chat(chatRequest)).json()).toMatchObject({ provider: 'other' })
    expect(scenario.acme.requests).toHaveLength(2)
  })

  test('does not reset its failure count by opening the stream', async () => {
    const gate = Promise.withResolvers<void>()
    const refused = json({ error: { message: 'No.' } }, { status: 500 })
    const scripts = [refused, silentUntil(gate.promise, framesOf(chatOutput())), refused, jsonReply()]
    await using scenario = await startScenario(scripts, options)
    await scenario.app.chat(chatRequest)
    const response = await scenario.app.chat(streamRequest)
    expect(response.status).toBe(200)
    await scenario.app.chat(chatRequest)
    expect(await (await scenario.app.chat(chatRequest)).json()).toMatchObject({ provider: 'other' })
    expect(scenario.acme.requests).toHaveLength(3)
    gate.resolve()
    expect((await readStreamed(response)).done).toBe(true)
    expect(await (await scenario.app.chat(chatRequest)).json()).toMatchObject({ provider: 'acme' })
  })

  test('resets its failure count with its first event', async () => {
    const refused = json({ error: { message: 'No.' } }, { status: 500 })
    const scripts = [refused, events(framesOf(chatOutput())), refused, jsonReply()]
    await using scenario = await startScenario(scripts, options)
    await scenario.app.chat(chatRequest)
    await readStreamed(await scenario.app.chat(streamRequest))
    await scenario.app.chat(chatRequest)
    expect(await (await scenario.app.chat(chatRequest)).json()).toMatchObject({ provider: 'acme' })
  })
})
