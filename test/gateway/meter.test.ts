import { describe, expect, test } from 'bun:test'
import { estimatedPrompt, imagesIn } from '../../src/gateway/money/estimate.ts'
import { createMeter } from '../../src/gateway/money/meter.ts'
import type { GenerationEvent } from '../../src/generation/events.ts'
import type { Generation, Part } from '../../src/generation/request.ts'

const text = (words: string): GenerationEvent => ({ type: 'text', choice: 0, text: words })
const reasoning = (words: string): GenerationEvent => ({ type: 'reasoning', choice: 0, text: words })
const finish: GenerationEvent = { type: 'finish', choice: 0, reason: 'stop' }
const usage = (promptTokens: number, completionTokens: number): GenerationEvent => {
  return { type: 'usage', usage: { promptTokens, completionTokens } }
}

/** A question of these parts. */
function asking(...parts: Part[]): Generation {
  return { messages: [{ role: 'user', parts }], tools: [], extras: {} }
}

function metered(...batches: GenerationEvent[][]) {
  const meter = createMeter({
    generation: asking({ type: 'text', text: 'a'.repeat(40) }),
    model: { routes: [] },
    stream: true,
  })
  batches.forEach((batch) => meter.add(batch))
  return meter.usage()
}

describe('what a request took', () => {
  test('is what the provider counted', () => {
    expect(metered([text('It is four.')], [usage(9, 7), finish])).toEqual({
      promptTokens: 9,
      completionTokens: 7,
      estimated: false,
    })
  })

  test('is the last of its counts', () => {
    expect(metered([usage(9, 1)], [text('It is four.'), finish], [usage(9, 7)])).toMatchObject({
      completionTokens: 7,
      estimated: false,
    })
  })

  test('is estimated from the characters where it counted nothing', () => {
    expect(metered([text('abcd'), text('abcde')], [reasoning('abcd'), finish])).toMatchObject({
      promptTokens: 14,
      completionTokens: 4,
      reasoningTokens: 1,
      estimated: true,
    })
  })

  test('counts the calls of tools too', () => {
    const call = { id: 'c', name: 'read', arguments: '{"a":"bcdef"}' }
    expect(metered([{ type: 'tool-call', choice: 0, call }]).completionTokens).toBe(5)
  })

  test('is the prompt alone before anything came', () => {
    expect(metered()).toMatchObject({ promptTokens: 14, completionTokens: 0, estimated: true })
  })
})

describe('the estimate of a prompt', () => {
  test('grows with its text, its images, its tools and its calls', () => {
    const plain = asking({ type: 'text', text: 'abcd' })
    const more: readonly Generation[] = [
      asking({ type: 'text', text: 'abcdefgh' }),
      asking({ type: 'text', text: 'abcd' }, { type: 'image', url: 'data:,' }),
      { ...plain, tools: [{ name: 'read_level', parameters: { type: 'object' } }] },
      { ...plain, messages: [...plain.messages, { role: 'system', parts: [] }] },
    ]
    for (const generation of more) expect(estimatedPrompt(generation)).toBeGreaterThan(estimatedPrompt(plain))
  })

  test('does not grow with the bytes of an image', () => {
    const small = asking({ type: 'image', url: 'data:image/png;base64,QUJD' })
    const large = asking({ type: 'image', url: `data:image/png;base64,${'QUJD'.repeat(100_000)}` })
    expect(estimatedPrompt(large)).toBe(estimatedPrompt(small))
  })

  test('images are counted wherever they stand', () => {
    const image: Part = { type: 'image', url: 'data:,' }
    const { messages } = asking(image, { type: 'text', text: 'a' }, image)
    expect(imagesIn({ messages: [...messages, ...messages], tools: [], extras: {} })).toBe(4)
  })
})
