import { heapStats } from 'bun:jsc'
import { expect, test } from 'bun:test'
import { streamReply, jsonReply } from '../../support/chat-fixtures.ts'
import { chatRequest, startScenario } from '../../support/scenario.ts'
import type { Script } from '../../support/script.ts'

/** Timers that were due while the heap was counted run in the first request after it: together they hardly matter. */
const requestsPerCount = 20

/** Other work of a busy machine, which adds to the objects, may last for some of them. */
const maxCounts = 30

/** Frames are those of functions that wait. */
type Made = { readonly frames: number; readonly promises: number }

/** How many for each request; the client and the provider are in this process, and what they make counts, too. */
const budgets: readonly (readonly [string, object, Script, Made])[] = [
  ['complete', chatRequest, jsonReply(), { frames: 17, promises: 44 }],
  ['streamed', { ...chatRequest, stream: true }, streamReply(), { frames: 24, promises: 73 }],
]

// Most of what a request allocates on the heap is what waits for something, and the heap is what makes it slow.
test.each(budgets)('a %s reply creates no more promises than its budget', async (_, body, script, budget) => {
  await using world = await startScenario(script)
  const ask = async () => {
    const reply = await world.app.chat(body)
    await reply.text()
    expect(reply.status).toBe(200)
  }
  for (let index = 0; index < 30; index++) await ask()
  const made: Made[] = []
  // After a garbage collection fewer objects remain than were made.
  const least = (name: keyof Made, plausible: number) =>
    Math.min(...made.map((counts) => counts[name]).filter((count) => count >= plausible))
  const isWithin = () => least('frames', 5) < budget.frames && least('promises', 10) < budget.promises
  while (made.length < maxCounts && !isWithin()) made.push(await madeBy(ask))
  expect(least('frames', 5)).toBeLessThan(budget.frames)
  expect(least('promises', 10)).toBeLessThan(budget.promises)
})

async function madeBy(work: () => Promise<void>): Promise<Made> {
  const before = onHeap()
  for (let index = 0; index < requestsPerCount; index++) await work()
  const after = onHeap()
  const mean = (name: keyof Made) => (after[name] - before[name]) / requestsPerCount
  return { frames: mean('frames'), promises: mean('promises') }
}

function onHeap(): Made {
  const { AsyncFunctionGenerator: frames = 0, Promise: promises = 0 } = heapStats().objectTypeCounts
  return { frames, promises }
}
