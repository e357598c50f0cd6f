import { describe, expect, test } from 'bun:test'
import { parsedReply } from './support/parsed-reply.ts'
import { delta, eventsOf } from './support/chunks.ts'

const done = '[DONE]'
const stop = delta({}, 'stop')
const read = (kind: string, ...chunks: (object | string)[]) => parsedReply(eventsOf(kind, ...chunks))

describe('the end of a streamed chat completion', () => {
  test('is the end of the body, after a finish reason', () => {
    expect(read('vllm', delta({ content: 'Hi' }), stop).choices[0]?.finish).toBe('stop')
  })

  test('is a failure where [DONE] comes without a finish reason', () => {
    const reply = read('openai', delta({ content: 'Hi' }), done)
    expect(reply.failures).toHaveLength(1)
    expect(reply.choices[0]?.finish).toBeUndefined()
  })

  test('is [DONE] alone at Snowflake, and a failure without it', () => {
    expect(read('snowflake', delta({ content: '4' }), done).choices[0]?.finish).toBe('stop')
    expect(read('snowflake', delta({ content: '4' })).failures).toHaveLength(1)
  })

  test('is a failure when an error follows the finish reason, and its usage still counts', () => {
    const error = {
      error: { code: 400, message: 'Token limit reached' },
      usage: { prompt_tokens: 3, completion_tokens: 2 },
    }
    const reply = read('openrouter', delta({ content: 'Hi' }), delta({}, 'length'), error, done)
    expect(reply.failures).toEqual([expect.objectContaining({ message: 'Token limit reached', status: 400 })])
    expect(reply.choices[0]?.finish).toBeUndefined()
    expect(reply.usage).toMatchObject({ promptTokens: 3, completionTokens: 2 })
  })

  test('is a failure when one of two choices was not finished', () => {
    const second = { choices: [{ index: 1, delta: { content: 'Ho' } }] }
    const events = eventsOf('openai', delta({ content: 'Hi' }), second, stop, done)
    expect(events.map((event) => event.type)).toEqual(['text', 'text', 'ending', 'failure'])
  })

  test.each(['error', 'insufficient_system_resource', 'abort'])(
    'is a failure at the finish reason "%s"',
    (word) => {
      expect(read('deepseek', delta({ content: 'Hi' }), delta({}, word), done).failures).toHaveLength(1)
    },
  )

  test('is emitted once where the provider repeats it', () => {
    const events = eventsOf('openrouter', delta({ content: 'Hi' }), stop, stop, done)
    expect(events.filter((event) => event.type === 'finish')).toHaveLength(1)
  })

  test('stays length or content_filter for a reply with tool calls', () => {
    const call = delta({ tool_calls: [{ id: 'a', function: { name: 'f', arguments: '{}' } }] })
    expect(read('openai', call, delta({}, 'length'), done).choices[0]?.finish).toBe('length')
    expect(read('openai', call, delta({}, 'stop'), done).choices[0]?.finish).toBe('tool_calls')
  })

  test('follows both choices of a reply, each with its own reason', () => {
    const two = { choices: [{ index: 1, delta: { content: 'Ho' }, finish_reason: 'length' }] }
    const reply = read('openai', delta({ content: 'Hi' }), two, stop, done)
    expect(reply.choices).toMatchObject([
      { text: 'Hi', finish: 'stop' },
      { text: 'Ho', finish: 'length' },
    ])
  })
})

describe('a streamed chat completion', () => {
  test('has a refusal as text', () => {
    expect(read('openai', delta({ refusal: 'No.' }), stop, done).choices[0]?.text).toBe('No.')
  })

  test('has the thinking parts of Mistral as reasoning', () => {
    const thinking = { type: 'thinking', thinking: [{ type: 'text', text: 'Hm' }], closed: true }
    const reply = read('mistral', delta({ content: [thinking, { type: 'text', text: '1' }] }), stop, done)
    expect(reply.choices[0]).toMatchObject({ reasoning: 'Hm', text: '1' })
  })

  test('counts reasoning once that arrives under two names', () => {
    const both = delta({ reasoning: 'Hm', reasoning_content: 'Hm' })
    expect(read('vllm', both, stop, done).choices[0]?.reasoning).toBe('Hm')
  })

  test('counts the message once that Perplexity repeats at the end', () => {
    const last = { index: 0, message: { content: '1 2' }, delta: { content: '' }, finish_reason: 'stop' }
    const reply = read('perplexity', delta({ content: '1 2' }), {
      object: 'chat.completion.done',
      choices: [last],
    })
    expect(reply.choices[0]).toMatchObject({ text: '1 2', finish: 'stop' })
  })

  test('emits the service tier when it changes, and unknown names as null', () => {
    const tiers = (word: string) =>
      eventsOf(
        'openai',
        delta({ content: 'a' }, null, { service_tier: word }),
        delta({}, 'stop', { service_tier: word }),
      )
        .filter((event) => event.type === 'tier')
        .map((event) => event.tier)
    expect(tiers('priority')).toEqual(['priority'])
    expect(tiers('on_demand')).toEqual([null])
    expect(tiers('')).toEqual([])
  })
})

describe('the usage of a streamed chat completion', () => {
  const usageOf = (usage: object, rest: object = {}) =>
    read('openai', stop, { choices: [], usage, ...rest }).usage

  test('is the last one reported, never a sum', () => {
    const first = { prompt_tokens: 8, completion_tokens: 1, total_tokens: 9 }
    const reply = read('perplexity', delta({ content: 'a' }, null, { usage: first }), {
      ...stop,
      usage: { prompt_tokens: 8, completion_tokens: 5, total_tokens: 13 },
    })
    expect(reply.usage).toMatchObject({ promptTokens: 8, completionTokens: 5 })
  })

  test('is found where Groq puts it', () => {
    const reply = read('groq', { ...stop, x_groq: { usage: { prompt_tokens: 4, completion_tokens: 2 } } })
    expect(reply.usage).toMatchObject({ promptTokens: 4, completionTokens: 2 })
  })

  test('includes reasoning that the provider did not count as completion', () => {
    const usage = usageOf({ prompt_tokens: 10, completion_tokens: 2, total_tokens: 40 })
    expect(usage).toMatchObject({ promptTokens: 10, completionTokens: 30 })
  })

  test.each([
    ['prompt_tokens_details', { prompt_tokens_details: { cached_tokens: 6 } }],
    ['prompt_cache_hit_tokens', { prompt_cache_hit_tokens: 6 }],
    ['cached_tokens', { cached_tokens: 6 }],
  ])('has the cached tokens of %s', (_name, fields) => {
    expect(usageOf({ prompt_tokens: 10, completion_tokens: 2, ...fields })?.cachedTokens).toBe(6)
  })

  test('limits the cached tokens to the prompt', () => {
    const details = { prompt_tokens_details: { cached_tokens: 600 } }
    expect(usageOf({ prompt_tokens: 10, completion_tokens: 2, ...details })?.cachedTokens).toBe(10)
  })

  test.each([
    [{ prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 }],
    [{}],
    [{ prompt_tokens: 'many' }],
  ])('is absent for %p', (usage) => expect(usageOf(usage)).toBeUndefined())
})
