import { Database as Sqlite } from 'bun:sqlite'
import { describe, expect, test } from 'bun:test'
import { type Paid, startPaid, usualCost } from '../reliability/money/support/paid.ts'
import { chunks, framesOf, said, whole, completionOf } from '../support/chat-answers.ts'
import { readError, readStreamed } from '../support/chat-reply.ts'
import { question } from '../support/scenario.ts'
import { jsonPieces, type Script } from '../support/script.ts'

const start = 1_000_000_000

/** Another process, for the gateway, that keeps the database locked. */
function lock({ file }: Paid) {
  const other = new Sqlite(file)
  other.run('BEGIN IMMEDIATE')
  return { release: () => other.close(), [Symbol.dispose]: () => other.close() }
}

test('while the database is locked a paid call is rejected before the provider is called, and reserves nothing', async () => {
  await using paid = await startPaid(whole())
  {
    using _lock = lock(paid)
    const reply = await paid.app.chat(question)
    expect(reply.headers.get('retry-after')).toBe('1')
    expect(await readError(reply)).toMatchObject({ status: 503, code: 'service_unavailable' })
  }
  expect(paid.acme.requests).toEqual([])
  const [row] = await paid.books.settled(1)
  expect(row).toMatchObject({ status: 503, error: 'service_unavailable', cost: 0, prompt_tokens: 0 })
  expect(paid.books.account()).toEqual([start, 0])
  paid.books.expectSound()
})

/** The usual answer, which waits before its end. */
function waiting(stream: boolean, gate: Promise<void>): Script {
  const frames = framesOf(said())
  return stream
    ? chunks([...frames.slice(0, 2), gate, ...frames.slice(2)])
    : jsonPieces([gate, JSON.stringify(completionOf(said()))])
}

describe.each([
  ['not streamed', false],
  ['streamed', true],
])('a reply (%s) whose settlement cannot be written', (_, stream) => {
  /** Asks, locks the database once the call is on its way, and gives the reply. */
  async function askLocked(paid: Paid, gate: { resolve(): void }) {
    const asking = paid.app.chat({ ...question, stream })
    await paid.acme.request(0)
    if (stream) await asking
    const locked = lock(paid)
    gate.resolve()
    const reply = await asking
    if (!stream) {
      expect(await readError(reply)).toMatchObject({ status: 503, code: 'service_unavailable' })
      expect(reply.headers.get('x-weir-cost')).toBeNull()
      return locked
    }
    const { done, error } = await readStreamed(reply)
    expect([done, error?.code]).toEqual([false, 'service_unavailable'])
    return locked
  }

  const late = { status: 503, error: 'service_unavailable', cost: usualCost, provider: 'acme' }

  test('is not sent, and is charged once when the database is writable', async () => {
    const gate = Promise.withResolvers<void>()
    await using paid = await startPaid(waiting(stream, gate.promise))
    const locked = await askLocked(paid, gate)
    expect(paid.books.rows()).toEqual([])
    expect(paid.books.open()).toBe(1)
    locked.release()
    const rows = await paid.books.settled(1)
    expect(rows).toEqual([expect.objectContaining(late)])
    expect(paid.books.account()).toEqual([start - usualCost, 0])
    expect(paid.books.entries()).toEqual([
      ['credit', start],
      ['charge', -usualCost],
    ])
    paid.books.expectSound()
  })

  test('is charged, at the latest, when the gateway shuts down', async () => {
    const gate = Promise.withResolvers<void>()
    await using paid = await startPaid(waiting(stream, gate.promise))
    const locked = await askLocked(paid, gate)
    locked.release()
    await paid.app.stop()
    expect(paid.books.rows()).toEqual([expect.objectContaining(late)])
    expect(paid.books.account()).toEqual([start - usualCost, 0])
    paid.books.expectSound()
  })
})
