import { expect, test } from 'bun:test'
import { followRuns } from './follow-runs.ts'
import { startLoad } from './load.ts'

/** In MiB; a gateway at rest has about 100, and each open stream takes some dozens of KiB. */
const maxMemory = 600

test('two thousand concurrent streams are each complete, at their pace', async () => {
  const load = { streams: 2000, chunks: 10, interval: 200 }
  await using scenario = await startLoad(load)
  const { texts, complete, gaps, span } = await scenario.ask()
  console.log(
    `${load.streams} streams: a chunk each ${gaps.median} ms, p99 ${gaps.p99} ms, in all ${span} ms`,
  )
  expect(texts).toEqual({ '0 1 2 3 4 5 6 7 8 9 ': load.streams })
  expect(complete).toBe(load.streams)
  expect(await scenario.mostOpen()).toBe(load.streams)
  // An idle machine takes little longer than the provider, a busy one several times as long.
  expect(span).toBeLessThan(15 * load.chunks * load.interval)
})

test('five hundred concurrent background runs send all of their events to ten readers each', async () => {
  const peak = await followRuns(500, 10)
  console.log(`${peak?.toFixed(0)} MiB at most`)
  if (peak !== undefined) expect(peak).toBeLessThan(maxMemory)
})
