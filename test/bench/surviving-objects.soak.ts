import { edenGC, fullGC, heapStats } from 'bun:jsc'
import { expect, test } from 'bun:test'
import { median } from './send.ts'
import { streamReply, jsonReply } from '../support/chat-fixtures.ts'
import { chatRequest, startScenario } from '../support/scenario.ts'

// A request that is over and survives makes the pauses for collections long, and the heap large.
test.each([
  ['complete', chatRequest, jsonReply()],
  ['streamed', { ...chatRequest, stream: true }, streamReply()],
])('few requests with a %s reply survive a collection of young objects', async (_, body, script) => {
  await using world = await startScenario(script)
  const ask = async () => (await world.app.chat(body)).text()
  const askAll = async () => {
    for (let index = 0; index < 50; index++) await Promise.all(Array.from({ length: 10 }, ask))
  }
  const survivors: number[] = []
  for (let round = 0; round < 3; round++) {
    await askAll()
    fullGC()
    const before = abortSignals()
    await askAll()
    edenGC()
    survivors.push(abortSignals() - before)
  }
  expect(median(survivors)).toBeLessThan(100)
})

/** Each request has one or two. */
function abortSignals(): number {
  return heapStats().objectTypeCounts.AbortSignal ?? 0
}
