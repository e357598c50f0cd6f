import { describe, expect, test } from 'bun:test'
import type { GenerationEvent } from '../../../../src/domain/generation/events.ts'
import { responses } from '../../../../src/providers/protocols/responses/protocol.ts'
import { parsedReply, readStream } from './support/parsed-reply.ts'

type Event = { readonly type: string; readonly [field: string]: unknown }

function eventsOf(...input: (Event | string)[]): GenerationEvent[] {
  const frames = input.map((event) =>
    typeof event === 'string'
      ? `data: ${event}\n\n`
      : `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`,
  )
  return readStream(responses, Buffer.from(frames.join('')))
}

const read = (...input: (Event | string)[]) => parsedReply(eventsOf(...input))
const outputText = (delta: string) => ({ type: 'response.output_text.delta', delta })
const ended = (status: string, response: object = {}) => ({
  type: `response.${status}`,
  response: { status, output: [], ...response },
})
const cutOff = (reason?: string) => ended('incomplete', { incomplete_details: reason ? { reason } : null })
const completed = ended('completed')
const message = (text: string) => ({ type: 'message', content: [{ type: 'output_text', text }] })

describe('the end of a streamed response', () => {
  test.each<[string, Event, string]>([
    ['completed', completed, 'stop'],
    ['the token limit', cutOff('max_output_tokens'), 'length'],
    ['the token limit under another name', cutOff('max_tokens'), 'length'],
    ['no reason', cutOff(), 'length'],
    ['a filter', cutOff('content_filter'), 'content_filter'],
    ['an engine that calls a limit completed', { ...cutOff(), type: 'response.completed' }, 'length'],
    ['the last event of a router', { ...completed, type: 'response.done' }, 'stop'],
  ])('follows %p', (_name, event, finish) => {
    const reply = read(outputText('Hi'), event)
    expect(reply.choices).toMatchObject([{ text: 'Hi', finish }])
    expect(reply.failures).toEqual([])
  })

  test.each<[string, Event | string]>([
    ['[DONE] alone', '[DONE]'],
    ['an unknown reason', cutOff('interrupted')],
    ['a cancelled response', ended('cancelled')],
    ['a failed response that gives no reason', ended('failed', { error: null })],
    ['half an event', '{"type":"response.comp'],
  ])('is a failure after %p', (_name, event) => {
    const events = eventsOf(outputText('Hi'), event, completed)
    expect(events.map(({ type }) => type)).toEqual(['text', 'failure'])
  })

  test('is a failure where the events just stop', () => {
    expect(eventsOf(outputText('Hi')).map(({ type }) => type)).toEqual(['text', 'failure'])
  })

  test('is emitted once, whatever follows it', () => {
    const events = eventsOf(outputText('Hi'), completed, '[DONE]', completed)
    expect(events.map(({ type }) => type)).toEqual(['text', 'finish'])
  })

  test('follows the usage and the tier', () => {
    const usage = {
      input_tokens: 30,
      input_tokens_details: { cached_tokens: 20, cache_write_tokens: 4 },
      output_tokens: 9,
      output_tokens_details: { reasoning_tokens: 5 },
      total_tokens: 39,
    }
    expect(eventsOf(ended('completed', { usage, service_tier: 'priority' }))).toMatchObject([
      { type: 'tier', tier: 'priority' },
      {
        type: 'usage',
        usage: {
          promptTokens: 30,
          completionTokens: 9,
          cachedTokens: 20,
          cacheWriteTokens: 4,
          reasoningTokens: 5,
        },
      },
      { type: 'finish', reason: 'stop' },
    ])
  })
})

describe('an error in a streamed response', () => {
  const limited = { code: 'rate_limit_exceeded', message: 'Too fast.' }

  test.each<[string, Event | string]>([
    ['flat', { type: 'error', ...limited, param: null }],
    ['nested', { type: 'error', error: { type: 'requests', ...limited } }],
    ['bare', JSON.stringify({ error: limited })],
    ['as a failed response', ended('failed', { error: limited })],
  ])('is a failure with its status: %s', (_name, event) => {
    const reply = read(outputText('Hi'), event)
    expect(reply.failures).toMatchObject([{ ...limited, status: 429 }])
    expect(reply.choices[0]?.finish).toBeUndefined()
  })

  test.each([
    ['insufficient_quota', 429],
    ['context_length_exceeded', 400],
    ['image_parse_error', 400],
    ['invalid_api_key', 401],
    ['model_not_found', 404],
    ['server_error', 500],
    ['vector_store_timeout', 500],
    ['something_new', undefined],
  ])('with the code %s has the status %p', (code, status) => {
    expect(responses.parseError({ error: { code, message: 'No.' } }).status).toBe(status)
  })

  test('keeps the usage of a failed response', () => {
    const usage = { input_tokens: 3, output_tokens: 2 }
    const reply = read(ended('failed', { error: limited, usage }))
    expect(reply.usage).toMatchObject({ promptTokens: 3, completionTokens: 2 })
  })

  test('of xAI has its message beside the code', () => {
    const complaint = responses.parseError({ code: 'invalid-argument', error: 'Incorrect API key provided.' })
    expect(complaint).toMatchObject({ message: 'Incorrect API key provided.', code: 'invalid-argument' })
  })
})

describe('the content of a streamed response', () => {
  test('has a refusal as text', () => {
    const refusal = { type: 'message', content: [{ type: 'refusal', refusal: 'No.' }] }
    const streamed = eventsOf(
      { type: 'response.refusal.delta', delta: 'No.' },
      ended('completed', { output: [refusal] }),
    )
    const complete = responses.parse({ status: 'completed', output: [refusal] })
    expect(parsedReply(streamed).choices[0]).toMatchObject({ text: 'No.', finish: 'stop' })
    expect(complete).toEqual(streamed)
  })

  const part = { type: 'response.reasoning_summary_part.added' }
  const summary = (delta: string) => ({ type: 'response.reasoning_summary_text.delta', delta })
  const thought = (delta: string) => ({ type: 'response.reasoning_text.delta', delta })

  test('has the parts of a summary as paragraphs', () => {
    const output = [{ type: 'reasoning', summary: [{ text: 'One.' }, { text: 'Two.' }] }]
    const streamed = read(part, summary('One.'), part, summary('Two.'), ended('completed', { output }))
    expect(streamed.choices[0]?.reasoning).toBe('One.\n\nTwo.')
    expect(parsedReply(responses.parse({ output })).choices[0]?.reasoning).toBe('One.\n\nTwo.')
  })

  test('counts reasoning once that arrives with its summary', () => {
    const output = [
      { type: 'reasoning', summary: [{ text: 'In short.' }], content: [{ text: 'At length.' }] },
    ]
    const end = ended('completed', { output })
    expect(read(summary('In short.'), thought('At length.'), end).choices[0]?.reasoning).toBe('In short.')
    expect(read(thought('At length.'), summary('In short.'), end).choices[0]?.reasoning).toBe('At length.')
    expect(parsedReply(responses.parse({ output })).choices[0]?.reasoning).toBe('In short.')
  })

  test('has the output of the terminal event where no deltas arrived', () => {
    const reasoning = { type: 'reasoning', content: [{ type: 'reasoning_text', text: 'Hm.' }] }
    const reply = read(ended('completed', { output: [reasoning, message('Hi')] }))
    expect(reply.choices).toMatchObject([{ text: 'Hi', reasoning: 'Hm.', finish: 'stop' }])
  })

  test('counts once what the terminal event repeats', () => {
    expect(
      read(outputText('H'), outputText('i'), ended('completed', { output: [message('Hi')] })).choices[0]
        ?.text,
    ).toBe('Hi')
  })

  test('has each reasoning with its state once and before its text, also where it is not streamed', () => {
    const reasoning = (id: string, text: string) => ({
      type: 'reasoning',
      id,
      summary: [{ type: 'summary_text', text }],
      encrypted_content: 'gAAAA1',
    })
    const output = [reasoning('rs_1', 'One.'), message('Hi'), reasoning('rs_2', 'Two.'), message(' again')]
    const streamed = eventsOf(
      summary('One.'),
      { type: 'response.output_item.done', item: output[0] },
      outputText('Hi'),
      summary('\n\nTwo.'),
      { type: 'response.output_item.done', item: output[2] },
      outputText(' again'),
      ended('completed', { output }),
    )
    const types = streamed.map(({ type }) => type).join(' ')
    expect(types).toBe('reasoning reasoning-end text reasoning reasoning-end text finish')
    expect(responses.parse({ status: 'completed', output })).toEqual(streamed)
  })

  test('has the tier when it changes, and not the requested one', () => {
    const created = (service_tier: string) => ({ type: 'response.created', response: { service_tier } })
    const tiers = (first: string, last: string) =>
      eventsOf(created(first), ended('completed', { service_tier: last })).flatMap((event) =>
        event.type === 'tier' ? [event.tier] : [],
      )
    expect(tiers('auto', 'default')).toEqual(['default'])
    expect(tiers('default', 'default')).toEqual(['default'])
    expect(tiers('default', 'flex')).toEqual(['default', null])
  })

  test.each(['queued', 'in_progress'])('is a failure where a complete body is still %s', (status) => {
    expect(responses.parse({ status, output: [] }).map(({ type }) => type)).toEqual(['failure'])
  })
})
