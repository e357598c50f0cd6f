import { describe, expect, test } from 'bun:test'
import type { GenerationEvent } from '../../../../src/domain/generation/events.ts'
import type { Input, EmbeddingOptions, Generation } from '../../../../src/domain/generation/request.ts'
import { toVector } from '../../../../src/providers/protocols/embeddings.ts'
import { geminiEmbeddings } from '../../../../src/providers/protocols/gemini/protocol.ts'
import { mistralEmbeddings, openaiEmbeddings } from '../../../../src/providers/protocols/openai-embeddings.ts'
import type { Protocol } from '../../../../src/providers/protocols/protocol.ts'
import { readStream } from './support/parsed-reply.ts'

function generationOf(
  inputs: readonly Input[],
  embedding: EmbeddingOptions = { format: 'float' },
  changes: Partial<Generation> = {},
): Generation {
  const body = { model: 'x', input: inputs, encoding_format: embedding.format }
  return {
    operation: 'embedding',
    inputs,
    embedding,
    messages: [],
    tools: [],
    extras: {},
    source: { protocol: 'openai-embeddings', body },
    ...changes,
  }
}

function render(protocol: Protocol<null>, generation: Generation, model = 'river-1') {
  const warnings: string[] = []
  const body = protocol.render(generation, { model, stream: false }, (warning) => void warnings.push(warning))
  return { body: JSON.parse(JSON.stringify(body)), warnings }
}

function embeddingsIn(events: readonly GenerationEvent[]): unknown[] {
  return events.flatMap((event) => (event.type === 'embedding' ? [JSON.parse(event.embedding.json)] : []))
}

const options = { format: 'base64', dimensions: 256 } as const

describe('the request of embeddings', () => {
  const changes = { user: 'mia', extras: { task: 'search', Model: 'other', fallbacks: ['x'] } }
  const generation = generationOf(['a', 'b'], options, changes)
  const ignored = 'Parameters `Model` and `fallbacks` are not supported and were ignored.'

  test('has the fields of the caller, and the model of the route', () => {
    expect(render(openaiEmbeddings({ name: 'openai' }), generation)).toEqual({
      body: {
        model: 'river-1',
        input: ['a', 'b'],
        dimensions: 256,
        encoding_format: 'base64',
        user: 'mia',
        task: 'search',
      },
      warnings: [ignored],
    })
  })

  test('has no format for a provider that returns only numbers', () => {
    const { body } = render(openaiEmbeddings({ name: 'together', format: 'numbers' }), generation)
    expect(body).not.toHaveProperty('encoding_format')
  })

  test('asks for base64 where the provider is known to support it, whatever the caller asks for', () => {
    const openai = openaiEmbeddings({ name: 'openai', format: 'base64' })
    expect(render(openai, generationOf(['a'])).body).toMatchObject({ encoding_format: 'base64' })
    const other = openaiEmbeddings({ name: 'openai-compatible' })
    expect(render(other, generationOf(['a'])).body).toMatchObject({ encoding_format: 'float' })
  })

  test('has the names of Mistral, and none of the fields that it rejects', () => {
    expect(render(openaiEmbeddings(mistralEmbeddings), generation)).toEqual({
      body: { model: 'river-1', input: ['a', 'b'], output_dimension: 256 },
      warnings: [ignored, 'Parameters `task` and `user` are not supported by mistral and were ignored.'],
    })
  })

  test('is a batch for Gemini, with an entry for each text', () => {
    const entry = (text: string, model: string) => ({
      model,
      content: { parts: [{ text }] },
      outputDimensionality: 256,
    })
    expect(render(geminiEmbeddings, generationOf(['a', 'b'], options, { user: 'mia' }))).toEqual({
      body: { requests: [entry('a', 'models/river-1'), entry('b', 'models/river-1')] },
      warnings: ['Parameter `user` is not supported by gemini and was ignored.'],
    })
    const { body } = render(geminiEmbeddings, generationOf(['a'], options), 'tunedModels/mine')
    expect(body).toEqual({ requests: [entry('a', 'tunedModels/mine')] })
  })
})

describe('the response of Gemini', () => {
  const generation = generationOf(['a', 'b'])
  const embeddings = [{ values: [1, 2] }, { values: [3, 4] }]

  test('has the embeddings in the order of the texts, and the usage where it is counted', () => {
    const events = geminiEmbeddings.parse({ embeddings, usageMetadata: { promptTokenCount: 7 } }, generation)
    expect(embeddingsIn(events)).toEqual([
      [1, 2],
      [3, 4],
    ])
    expect(events.slice(2)).toEqual([
      { type: 'usage', usage: { promptTokens: 7, completionTokens: 0 } },
      { type: 'finish', choice: 0, reason: 'stop' },
    ])
    expect(geminiEmbeddings.parse({ embeddings }, generation).map(({ type }) => type)).toEqual([
      'embedding',
      'embedding',
      'finish',
    ])
  })

  test.each([
    ['too few embeddings', { embeddings: embeddings.slice(1) }],
    ['an embedding without values', { embeddings: [{}, { values: [1] }] }],
    ['an error', { error: { code: 429, message: 'Slow down.' } }],
    ['nothing', {}],
    ['null', null],
  ])('with %s is a failure alone', (_, body) => {
    expect(geminiEmbeddings.parse(body, generation).map(({ type }) => type)).toEqual(['failure'])
  })
})

test('a stream in place of embeddings is a failure', () => {
  for (const text of ['', 'data: {}\n\n', 'data: [DONE]\n\n']) {
    const events = readStream(geminiEmbeddings, Buffer.from(text))
    expect(events.map(({ type }) => type)).toEqual(['failure'])
  }
})

describe('an embedding in another format', () => {
  // The bytes of 1, -2.5 and 0.1 as little-endian floats of 32 bits.
  const base64 = Buffer.from('0000803f000020c0cdcccc3d', 'hex').toString('base64')

  test('has the bytes of little-endian floats of 32 bits', () => {
    expect(toVector([1, -2.5, 0.1], 'base64')).toBe(base64)
    expect(toVector(base64, 'float')).toEqual([1, -2.5, Math.fround(0.1)])
  })

  test('stays as it is where the format is the requested one', () => {
    expect(toVector(base64, 'base64')).toBe(base64)
    expect(toVector([0.1], 'float')).toEqual([0.1])
  })

  test.each<[string, unknown]>([
    ['no base64', '!'],
    ['an empty text', ''],
    ['a part of a number', 'AAAA'],
    ['an empty list', []],
    ['a list with null', [1, null]],
    ['an object', {}],
    ['a number', 1],
    ['nothing', undefined],
  ])('is undefined for %s', (_, value) => {
    expect(toVector(value, 'float')).toBeUndefined()
    expect(toVector(value, 'base64')).toBeUndefined()
  })

  test('is undefined for numbers that JSON cannot have', () => {
    const infinite = Buffer.from('0000807f', 'hex').toString('base64')
    expect(toVector(infinite, 'float')).toBeUndefined()
  })
})
