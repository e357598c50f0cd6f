import { heapStats } from 'bun:jsc'
import { expect, test } from 'bun:test'
import { streamReply, jsonReply } from '../support/chat-fixtures.ts'
import { chatRequest, startScenario } from '../support/scenario.ts'
import type { Script } from '../support/script.ts'

/** Few, because the heap is counted twice for each. */
const requests = 9

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
  for (let index = 0; index < requests; index++) made.push(await madeBy(ask))
  // After a garbage collection fewer objects remain than were made, and on a busy machine other work makes some.
  const least = (counts: readonly number[], plausible: number) =>
    Math.min(...counts.filter((count) => count >= plausible))
  expect(
    least(
      made.map(({ frames }) => frames),
      5,
    ),
  ).toBeLessThan(budget.frames)
  expect(
    least(
      made.map(({ promises }) => promises),
      10,
    ),
  ).toBeLessThan(budget.promises)
})

async function madeBy(work: () => Promise<void>): Promise<Made> {
  const before = onHeap()
  await work()
  const after = onHeap()
  return { frames: after.frames - before.frames, promises: after.promises - before.promises }
}

function onHeap(): Made {
  const { AsyncFunctionGenerator: frames = 0, Promise: promises = 0 } = heapStats().objectTypeCounts
  return { frames, promises }
}
