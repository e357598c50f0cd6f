import { describe, expect, test } from 'bun:test'
import { connect } from 'node:net'
import { startBillingScenario } from '../../support/billing-scenario.ts'
import { readPieces } from '../../support/body-reader.ts'
import { firstKey } from '../../support/app.ts'
import {
  firstChunks,
  lastChunks,
  gatedReply,
  queueRun,
  waitForRun,
  waitForOutput,
  startRun,
} from '../../support/background.ts'
import { chunks, delta, streamReply } from '../../support/chat-fixtures.ts'
import { readError } from '../../support/chat-reply.ts'
import { replayResponse, responsesPath, retrieveResponse } from '../../support/responses.ts'
import { startScenario } from '../../support/scenario.ts'
import type { Script } from '../../support/script.ts'

/** The answer in so many words, each after the gate of its number. */
function inWords(gates: readonly Promise<void>[]): Script {
  const words = gates.flatMap((gate, index) => [gate, delta({ content: `${index} ` })])
  return chunks([firstChunks[0]!, ...words, ...lastChunks.slice(1)])
}

test('readers who join at any moment, also after the end, receive the same bytes', async () => {
  const gates = Array.from({ length: 6 }, () => Promise.withResolvers<void>())
  await using scenario = await startScenario(inWords(gates.map(({ promise }) => promise)))
  const { app } = scenario
  const { id } = await queueRun(app)
  const readers = [replayResponse(app, id)]
  for (const [index, gate] of gates.entries()) {
    gate.resolve()
    await waitForOutput(app, id, `"delta":"${index} "`)
    readers.push(replayResponse(app, id), replayResponse(app, id))
  }
  const texts = (await Promise.all(readers)).map(({ text }) => text.replaceAll(': keep-alive\n\n', ''))
  expect(new Set(texts).size).toBe(1)
  expect(texts).toHaveLength(13)
  expect((await replayResponse(app, id)).text).toBe(texts[0]!)
  const one = await app.request(`${responsesPath}/${id}?stream=1`)
  expect(await one.text()).toBe(texts[0]!)
  const plain = await app.request(`${responsesPath}/${id}?stream=false`)
  expect(await plain.json()).toMatchObject({ id, status: 'completed' })
})

describe('a reader with starting_after', () => {
  test('receives the events after that number from a finished run', async () => {
    await using scenario = await startScenario(streamReply())
    const { app } = scenario
    const { id } = await queueRun(app)
    const all = await replayResponse(app, id)
    for (const after of [-5, -1, ...all.events.keys(), 1000]) {
      const { text, events } = await replayResponse(app, id, `starting_after=${after}`)
      expect([after, events]).toEqual([after, all.events.filter((event) => event.sequence_number > after)])
      expect(all.text).toEndWith(text)
    }
    const last = all.events.length - 1
    expect((await replayResponse(app, id, `starting_after=${last}`)).text).toBe('')
  })

  test('receives the events after that number from an active run, also where they are still to come', async () => {
    const gate = Promise.withResolvers<void>()
    await using scenario = await startScenario(gatedReply(gate.promise))
    const { app } = scenario
    const id = await startRun(scenario)
    const numbers = [0, 2, 5, 7, 1000]
    const readers = numbers.map((after) => replayResponse(app, id, `starting_after=${after}`))
    // They are all there before it goes on.
    await waitForOutput(app, id, 'It is ')
    gate.resolve()
    const all = await replayResponse(app, id)
    for (const [index, reader] of readers.entries()) {
      const rest = all.events.filter((event) => event.sequence_number > numbers[index]!)
      expect((await reader).events).toEqual(rest)
    }
  })

  test('receives a 400 where the value is not a number', async () => {
    await using scenario = await startScenario(streamReply())
    const { id } = await queueRun(scenario.app)
    for (const after of ['x', '1.5', '']) {
      const reply = await scenario.app.request(`${responsesPath}/${id}?stream=true&starting_after=${after}`)
      expect(await readError(reply)).toMatchObject({ status: 400, param: 'starting_after' })
    }
  })
})

test('a reader of a queued run receives the queued event, and follows the run to its end', async () => {
  const gate = Promise.withResolvers<void>()
  await using scenario = await startScenario([gatedReply(gate.promise), streamReply()], {
    settings: { background: { concurrency: 1 } },
  })
  const { app } = scenario
  const ahead = await startRun(scenario)
  const { id } = await queueRun(app)
  const reader = readPieces(await app.request(`${responsesPath}/${id}?stream=true`))
  await reader.until('response.queued')
  expect((await retrieveResponse(app, id)).status).toBe('queued')
  gate.resolve()
  expect(await reader.rest()).toContain('event: response.completed\n')
  expect((await retrieveResponse(app, ahead)).status).toBe('completed')
})

test('readers who disconnect stop neither the run nor other readers', async () => {
  const gate = Promise.withResolvers<void>()
  await using scenario = await startScenario(gatedReply(gate.promise))
  const { app, acme } = scenario
  const id = await startRun(scenario)
  const staying = replayResponse(app, id)
  const aborting = await Promise.all(
    Array.from({ length: 20 }, async () =>
      readPieces(await app.request(`${responsesPath}/${id}?stream=true`)),
    ),
  )
  await Promise.all(aborting.map((reader) => reader.until('It is ')))
  await Promise.all(aborting.map((reader) => reader.leave()))
  gate.resolve()
  expect((await staying).last).toMatchObject({ status: 'completed' })
  expect(await acme.requests[0]!.aborted).toBe(false)
  expect(acme.requests.length).toBe(1)
})

test('a reader who pauses misses no event and delays no other reader', async () => {
  const words = Array.from({ length: 3000 }, (_, index) => delta({ content: `${index} `.repeat(20) }))
  const gate = Promise.withResolvers<void>()
  await using scenario = await startScenario(
    chunks([firstChunks[0]!, gate.promise, ...words, ...lastChunks.slice(1)]),
  )
  const { app } = scenario
  const { id } = await queueRun(app)
  const slow = await openSlowReader(app.url, `${responsesPath}/${id}?stream=true`)
  gate.resolve()
  const fast = await replayResponse(app, id)
  expect(fast.last?.status).toBe('completed')
  const text = await slow.rest()
  const body = text.slice(text.indexOf('\r\n\r\n') + 4).replaceAll(/(^|\r\n)[0-9a-f]+\r\n/g, '')
  const frames = body.split('\n\n').filter((frame) => frame.startsWith('event: '))
  expect(frames.length).toBe(fast.events.length)
  expect(frames.at(-1)).toStartWith('event: response.completed')
})

/** A client that has asked, and reads nothing until it is told to. */
async function openSlowReader(url: string, path: string) {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  await new Promise((resolve) => socket.once('connect', resolve))
  socket.pause()
  const headers = `host: localhost\r\nauthorization: Bearer ${firstKey}\r\nconnection: close`
  socket.write(`GET ${path} HTTP/1.1\r\n${headers}\r\n\r\n`)
  return {
    async rest(): Promise<string> {
      let text = ''
      const closed = new Promise((resolve) => socket.once('close', resolve))
      socket.on('data', (bytes: Buffer) => (text += bytes.toString()))
      socket.resume()
      await closed
      return text
    },
  }
}

test('a run of another organization can be neither read nor followed, while it is active or afterwards', async () => {
  const gate = Promise.withResolvers<void>()
  await using paid = await startBillingScenario(gatedReply(gate.promise))
  await paid.billing.fund('other', '1')
  const headers = { authorization: `Bearer ${await paid.billing.keyOf('other')}` }
  const expectNothing = async (id: string) => {
    for (const query of ['', '?stream=true', '?stream=1&starting_after=2']) {
      const reply = await paid.app.request(`${responsesPath}/${id}${query}`, { headers })
      expect(await readError(reply)).toMatchObject({
        status: 404,
        message: `Response with id '${id}' not found.`,
      })
    }
  }
  const id = await startRun(paid)
  await expectNothing(id)
  gate.resolve()
  await waitForRun(paid.app, id)
  await expectNothing(id)
  await expectNothing('resp_unknown')
})
