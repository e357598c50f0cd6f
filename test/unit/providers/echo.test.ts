import { expect, test } from 'bun:test'
import type { GenerationEvent } from '../../../src/domain/generation/events.ts'
import { echo } from '../../../src/providers/kinds/echo.ts'
import { plainGeneration } from './protocols/support/generations.ts'

const wordsOfTurn = 1024

async function echoed(text: string, change: object = {}) {
  const generation = {
    ...plainGeneration,
    ...change,
    messages: [{ role: 'user', parts: [{ type: 'text', text }] }],
  } as const
  const events: GenerationEvent[] = []
  for await (const batch of echo.generate(generation, new AbortController().signal)) events.push(...batch)
  return events
}

function textOf(events: readonly GenerationEvent[]): string {
  return events.map((event) => (event.type === 'text' ? event.text : '')).join('')
}

test('a short message is sent back in single words', async () => {
  const text = ' How  high is\nit? '
  const texts = (await echoed(text)).filter(({ type }) => type === 'text')
  expect(texts).toMatchObject([' How ', ' high', ' is', '\nit? '].map((text) => ({ text })))
})

test('a long message is sent back in few events, and other requests have their turns meanwhile', async () => {
  const text = 'word '.repeat(300_000)
  let turns = 0
  let ended = false
  const count = () => {
    turns += 1
    if (!ended) setImmediate(count)
  }
  setImmediate(count)
  const events = await echoed(text)
  ended = true
  expect(textOf(events)).toBe(text)
  expect(events.length).toBeLessThan(6000)
  expect(turns).toBeGreaterThan(300_000 / wordsOfTurn)
  expect(events.at(-1)).toMatchObject({ usage: { promptTokens: 300_000, completionTokens: 300_000 } })
})

test('a long message is truncated at the maximum of tokens', async () => {
  const events = await echoed('word '.repeat(5000), { maxTokens: 4500 })
  expect(textOf(events)).toBe('word '.repeat(4499) + 'word')
  expect(events.at(-2)).toMatchObject({ type: 'finish', reason: 'length' })
})
