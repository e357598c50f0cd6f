import { expect, test } from 'bun:test'
import type { GenerationEvent } from '../../../src/domain/generation/events.ts'
import type { EmbeddingOptions, Generation } from '../../../src/domain/generation/request.ts'
import { upstreamBody } from '../../../src/gateway/streams/upstream-body.ts'
import { nextTurn } from '../../../src/lib/time.ts'
import { openaiEmbeddings } from '../../../src/providers/protocols/openai-embeddings.ts'

const numbers = Array.from({ length: 1536 }, (_, index) => Math.fround(Math.sin(index)))
const base64 = Buffer.from(new Float32Array(numbers).buffer).toString('base64')

function replyWith(count: number, embedding: unknown): string {
  const data = Array.from({ length: count }, (_, index) => ({ object: 'embedding', index, embedding }))
  return JSON.stringify({ object: 'list', data, usage: { prompt_tokens: 5 } })
}

/** Reads the response; resolves with its events, the pieces that it was parsed in, and the memory that they took. */
async function read(text: string, count: number, format: EmbeddingOptions['format'], onPiece = () => {}) {
  const inputs = Array.from({ length: count }, () => 'a')
  const embedding = { format, dimensions: undefined }
  const generation: Generation = {
    operation: 'embedding',
    inputs,
    embedding,
    messages: [],
    tools: [],
    extras: {},
  }
  const acquired: number[] = []
  const request = { generation, holdMemory: (bytes: number) => void acquired.push(bytes) }
  const response = new Response(text, { headers: { 'content-length': String(text.length) } })
  const body = upstreamBody(response, request, openaiEmbeddings({ name: 'acme' }))
  const events: GenerationEvent[] = []
  let pieces = 0
  while (!body.finished()) {
    const chunk = await body.read()
    events.push(...body.parse(chunk))
    pieces += 1
    onPiece()
  }
  return { events, pieces, acquired }
}

test('many embeddings are parsed in pieces, and one in a single piece', async () => {
  const text = replyWith(1000, numbers)
  const { events, pieces } = await read(text, 1000, 'float')
  expect(events.filter(({ type }) => type === 'embedding')).toHaveLength(1000)
  expect(pieces).toBeGreaterThan(text.length / (300 * 1024))
  expect((await read(replyWith(1, numbers), 1, 'float')).pieces).toBe(1)
})

test('pieces of several responses at once have a turn of the event loop each', async () => {
  const text = replyWith(200, numbers)
  let pieces = 0
  const perTurn: number[] = []
  const all = Promise.all([1, 2, 3].map(() => read(text, 200, 'float', () => (pieces += 1))))
  const progress = { done: false }
  const ended = all.then(() => (progress.done = true))
  for (let before = 0; !progress.done; before = pieces) {
    await nextTurn()
    perTurn.push(pieces - before)
  }
  await ended
  // The first piece of each reads the text alone.
  expect(perTurn.filter((count) => count > 1).reduce((sum, count) => sum + count, 0)).toBeLessThanOrEqual(6)
  expect(perTurn.filter((count) => count === 1).length).toBeGreaterThan(30)
})

test('embeddings take the memory of their text, and more only in another format', async () => {
  const text = replyWith(100, base64)
  expect((await read(text, 100, 'base64')).acquired).toEqual([text.length])
  const rendered = JSON.stringify(numbers).length
  expect((await read(text, 100, 'float')).acquired).toEqual([
    text.length,
    ...Array<number>(100).fill(rendered),
  ])
})

test('a response can have 2 MiB for each input, and as much beside them', async () => {
  const tooLong = replyWith(400, numbers)
  expect(tooLong.length).toBeGreaterThan(3 * 2 * 1024 * 1024)
  await expect(read(tooLong, 2, 'float')).rejects.toThrow()
  const { events } = await read(replyWith(100, numbers), 2, 'float')
  expect(events.map(({ type }) => type)).toEqual(['failure'])
})
