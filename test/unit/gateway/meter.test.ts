import { describe, expect, test } from 'bun:test'
import { estimatePromptTokens, countImages } from '../../../src/gateway/billing/estimate.ts'
import { Meter } from '../../../src/gateway/billing/meter.ts'
import type { GenerationEvent } from '../../../src/domain/generation/events.ts'
import type { Generation, Part } from '../../../src/domain/generation/request.ts'

const text = (words: string): GenerationEvent => ({ type: 'text', choice: 0, text: words })
const reasoning = (words: string): GenerationEvent => ({ type: 'reasoning', choice: 0, text: words })
const finish: GenerationEvent = { type: 'finish', choice: 0, reason: 'stop' }
const usage = (promptTokens: number, completionTokens: number): GenerationEvent => {
  return { type: 'usage', usage: { promptTokens, completionTokens } }
}

/** A question of these parts. */
function requesting(...parts: Part[]): Generation {
  return { messages: [{ role: 'user', parts }], tools: [], extras: {} }
}

function metered(...batches: GenerationEvent[][]) {
  const meter = new Meter({
    generation: requesting({ type: 'text', text: 'a'.repeat(40) }),
    model: { routes: [] },
    stream: true,
  })
  batches.forEach((batch) => meter.add(batch))
  return meter.usage()
}

describe('the usage of a request', () => {
  test('is what the provider reported', () => {
    expect(metered([text('It is four.')], [usage(9, 7), finish])).toEqual({
      promptTokens: 9,
      completionTokens: 7,
      estimated: false,
    })
  })

  test('is the last report of several', () => {
    expect(metered([usage(9, 1)], [text('It is four.'), finish], [usage(9, 7)])).toMatchObject({
      completionTokens: 7,
      estimated: false,
    })
  })

  test('is estimated from the characters where the provider reported none', () => {
    expect(metered([text('abcd'), text('abcde')], [reasoning('abcd'), finish])).toMatchObject({
      promptTokens: 14,
      completionTokens: 4,
      reasoningTokens: 1,
      estimated: true,
    })
  })

  test('includes a tool call as it grows, and its end not again', () => {
    const begin: GenerationEvent = { type: 'tool-call-begin', choice: 0, index: 0, id: 'c', name: 'read' }
    const fragment = (text: string): GenerationEvent => {
      return { type: 'tool-call-delta', choice: 0, index: 0, arguments: text }
    }
    const call = { id: 'c', name: 'read', arguments: '{"a":"bcdef"}' }
    const end: GenerationEvent = { type: 'tool-call', choice: 0, index: 0, call }
    expect(metered([begin]).completionTokens).toBe(1)
    expect(metered([begin, fragment('{"a":"bc')]).completionTokens).toBe(3)
    expect(metered([begin, fragment('{"a":"bc'), fragment('def"}'), end]).completionTokens).toBe(5)
  })

  test('is the prompt alone before any output', () => {
    expect(metered()).toMatchObject({ promptTokens: 14, completionTokens: 0, estimated: true })
  })
})

describe('the usage of a client that disconnects', () => {
  const generation = requesting({ type: 'text', text: 'a'.repeat(40) })
  const reasoning = { supported_efforts: [] }

  /** A meter on a clock that stands where it is put. */
  function aborting({ stream = true, reasons = false, choices = 1, maxTokens = 1000 } = {}) {
    const clock = { now: 0 }
    const model = { routes: [], ...(reasons && { reasoning }) }
    const requested = { ...generation, choices, maxTokens }
    const meter = new Meter({ generation: requested, model, stream }, () => clock.now)
    const taken = () => meter.usage(true).completionTokens
    return { clock, meter, taken, sent: () => meter.requestSent(requested) }
  }

  test('is none before the provider has the request, and after it has rejected it', () => {
    const { meter, sent } = aborting()
    expect(meter.isBillable()).toBe(false)
    sent()
    expect(meter.isBillable()).toBe(true)
    meter.attemptFailed()
    expect(meter.isBillable()).toBe(false)
    sent()
    meter.accepted()
    meter.attemptFailed()
    expect(meter.isBillable()).toBe(true)
  })

  test('is a hundred tokens a second between the acceptance of a stream and its first token', () => {
    const { clock, meter, taken, sent } = aborting()
    sent()
    clock.now = 2000
    expect(taken()).toBe(0)
    meter.accepted()
    clock.now = 3000
    expect(taken()).toBe(100)
    meter.add([text('a')])
    clock.now = 9000
    expect(taken()).toBe(101)
  })

  test.each([
    ['that reasons', { reasons: true }],
    ['for a whole answer', { stream: false }],
  ])('includes the time since the request was sent to a model %s', (_, options) => {
    const { clock, taken, sent } = aborting(options)
    sent()
    clock.now = 2000
    expect(taken()).toBe(200)
  })

  test('includes every pause of a reasoning model, and not the time in which its tokens flow', () => {
    const { clock, meter, taken, sent } = aborting({ reasons: true })
    sent()
    meter.accepted()
    for (let word = 1; word <= 20; word++) {
      clock.now += 10
      meter.add([text('abcdefgh')])
    }
    const flowing = taken()
    expect(flowing).toBeWithin(80, 100)
    clock.now += 3000
    meter.add([text('a')])
    expect(taken()).toBeWithin(flowing + 300, flowing + 303)
    clock.now += 1000
    expect(taken()).toBeWithin(flowing + 400, flowing + 403)
  })

  test('includes the time in which the client did not read', () => {
    const { clock, meter, taken, sent } = aborting()
    sent()
    meter.accepted()
    meter.add([text('a')])
    meter.readerPaused()
    clock.now = 5000
    expect(taken()).toBe(501)
    meter.add([text('a')])
    clock.now = 9000
    expect(taken()).toBe(502)
  })

  test('includes the time for each of several choices, up to their maximum', () => {
    const { clock, taken, sent } = aborting({ stream: false, choices: 3, maxTokens: 200 })
    sent()
    clock.now = 1000
    expect(taken()).toBe(300)
    clock.now = 60_000
    expect(taken()).toBe(600)
  })

  test('is at least a token for each delta', () => {
    const { meter, taken, sent } = aborting()
    sent()
    meter.accepted()
    for (let piece = 0; piece < 50; piece++) meter.add([text(' ')])
    expect(taken()).toBe(50)
  })

  test('is the prompt that the provider reported, and its output so far with what followed', () => {
    const { meter, sent } = aborting()
    sent()
    meter.accepted()
    meter.add([usage(1234, 80), text('one')])
    meter.add([text('two')])
    expect(meter.usage(true)).toMatchObject({ promptTokens: 1234, completionTokens: 83, estimated: true })
  })

  test('is what the provider reported at the end, and not before all choices have ended', () => {
    const { meter, sent } = aborting({ choices: 2 })
    const ending = (choice: number): GenerationEvent => ({ type: 'ending', choice })
    sent()
    meter.accepted()
    meter.add([text('one'), ending(0), usage(9, 1)])
    expect(meter.awaitsUsage()).toBe(false)
    expect(meter.usage(true).estimated).toBe(true)
    meter.add([ending(1)])
    expect(meter.awaitsUsage()).toBe(true)
    meter.add([usage(9, 2)])
    expect(meter.awaitsUsage()).toBe(false)
    expect(meter.usage(true)).toEqual({ promptTokens: 9, completionTokens: 2, estimated: false })
  })
})

describe('the estimated tokens of a prompt', () => {
  test('grow with its text, its images, its tools and its calls', () => {
    const plain = requesting({ type: 'text', text: 'abcd' })
    const more: readonly Generation[] = [
      requesting({ type: 'text', text: 'abcdefgh' }),
      requesting({ type: 'text', text: 'abcd' }, { type: 'image', url: 'data:,' }),
      { ...plain, tools: [{ name: 'read_level', parameters: { type: 'object' } }] },
      { ...plain, messages: [...plain.messages, { role: 'system', parts: [] }] },
    ]
    for (const generation of more)
      expect(estimatePromptTokens(generation)).toBeGreaterThan(estimatePromptTokens(plain))
  })

  test('do not grow with the bytes of an image', () => {
    const small = requesting({ type: 'image', url: 'data:image/png;base64,QUJD' })
    const large = requesting({ type: 'image', url: `data:image/png;base64,${'QUJD'.repeat(100_000)}` })
    expect(estimatePromptTokens(large)).toBe(estimatePromptTokens(small))
  })

  test('include images wherever they are', () => {
    const image: Part = { type: 'image', url: 'data:,' }
    const { messages } = requesting(image, { type: 'text', text: 'a' }, image)
    expect(countImages({ messages: [...messages, ...messages], tools: [], extras: {} })).toBe(4)
  })
})
