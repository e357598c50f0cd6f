import { heapStats } from 'bun:jsc'
import { expect, test } from 'bun:test'
import { type Connection, openConnection, requestBytes } from './connection.ts'
import { chunks, delta } from '../support/chat-fixtures.ts'
import { chatRequest, startScenario } from '../support/scenario.ts'
import { hang } from '../support/script.ts'

/** Fewer than the 256 upstream calls that Bun allows a process which was not started for more. */
const streams = 240
/** In bytes: the objects of the gateway, the provider and the client, which are one process here. */
const budget = 40_000

test('an open stream holds no more of the heap than its budget, and releases it', async () => {
  await using world = await startScenario(chunks([delta({ role: 'assistant', content: 'It is ' })], hang))
  const url = new URL('/v1/chat/completions', world.app.url)
  const headers = { authorization: `Bearer ${world.app.key}` }
  const request = requestBytes(url, headers, JSON.stringify({ ...chatRequest, stream: true }))

  await letGo(await hold(url, request, 20), world.acme.idle)
  const before = heapSize()
  const held = await hold(url, request, streams)
  const each = (heapSize() - before) / streams
  expect(each).toBeGreaterThan(1000)
  expect(each).toBeLessThan(budget)
  await letGo(held, world.acme.idle)
  expect((heapSize() - before) / streams).toBeLessThan((2 / 3) * each)
}, 30_000)

/** Opens streams and reads the first chunk of each; resolves when all have theirs. */
async function hold(url: URL, request: Uint8Array, count: number): Promise<Connection[]> {
  return Promise.all(
    Array.from({ length: count }, async () => {
      const connection = await openConnection(url)
      await new Promise<void>((resolve, reject) => {
        const heard = (piece: Buffer) => piece.includes('It is ') && resolve()
        // It never ends, but where the test ends it.
        connection.exchange(request, heard).then(({ ending }) => reject(new Error(ending)), reject)
      })
      return connection
    }),
  )
}

async function letGo(held: readonly Connection[], quiet: () => Promise<void>): Promise<void> {
  for (const connection of held) connection.close()
  await quiet()
}

/** Without the buffers that Bun sets aside for each body: they take memory only as far as they are filled. */
function heapSize(): number {
  Bun.gc(true)
  const { heapSize, extraMemorySize } = heapStats()
  return heapSize - extraMemorySize
}
