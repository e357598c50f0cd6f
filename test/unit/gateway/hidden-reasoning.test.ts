import { describe, expect, test } from 'bun:test'
import type { GenerationEvent } from '../../../src/domain/generation/events.ts'
import type { Generation } from '../../../src/domain/generation/request.ts'
import { Meter } from '../../../src/gateway/billing/meter.ts'
import { RouteSpeeds } from '../../../src/gateway/billing/unfinished-answer.ts'
import type { ModelRoute } from '../../../src/gateway/models/model.ts'

const text = (words: string): GenerationEvent => ({ type: 'text', choice: 0, text: words })
const finish: GenerationEvent = { type: 'finish', choice: 0, reason: 'stop' }
const counts = { promptTokens: 9, completionTokens: 1000 }
const usage = (promptTokens: number, completionTokens: number): GenerationEvent => {
  return { type: 'usage', usage: { promptTokens, completionTokens } }
}
const requested: Generation = {
  messages: [{ role: 'user', parts: [{ type: 'text', text: 'a' }] }],
  tools: [],
  extras: {},
  maxTokens: 100_000,
}

describe('the reasoning that a client did not see', () => {
  const route = { provider: {}, model: 'river' } as ModelRoute

  /** A meter of a model that reasons, on a clock that stands where it is put. */
  function reasoningMeter({ speed, stream = true }: { speed?: number; stream?: boolean } = {}) {
    const clock = { now: 0 }
    const model = { routes: [], reasoning: { supported_efforts: [] } }
    const meter = new Meter({ generation: requested, model, stream }, () => clock.now)
    meter.routeChosen(route, speed)
    meter.requestSent(requested)
    meter.accepted()
    const taken = () => meter.usage(true).completionTokens
    /** Lets so many words flow, ten milliseconds apart. */
    const flow = (words: number) => {
      for (let word = 0; word < words; word++) {
        clock.now += 10
        meter.add([text('abcdefgh')])
      }
    }
    return { clock, meter, taken, flow }
  }

  test('is charged at the speed of the route, if that is higher than a hundred tokens a second', () => {
    for (const [speed, tokens] of [
      [undefined, 400],
      [20, 400],
      [900, 3600],
    ] as const) {
      const { clock, meter, taken } = reasoningMeter({ speed })
      clock.now = 4000
      expect(taken()).toBe(tokens)
      meter.add([text('END')])
      expect(taken()).toBeWithin(tokens + 1, tokens + 4)
    }
    const whole = reasoningMeter({ speed: 900, stream: false })
    whole.clock.now = 4000
    expect(whole.taken()).toBe(3600)
  })

  test('is charged at the speed at which the answer flows, if that is higher', () => {
    const { clock, meter, taken, flow } = reasoningMeter()
    clock.now = 4000
    flow(60)
    const { completionTokens } = meter.usage(true)
    // Some four tokens in ten milliseconds, of the first word of which the time is not known.
    const received = completionTokens * (590 / 4600)
    expect(completionTokens - received).toBeWithin(4000 * 0.4, 4000 * 0.5)
    clock.now += 2000
    expect(taken() - completionTokens).toBeWithin(2000 * 0.4, 2000 * 0.5)
  })

  test('is not charged twice where the provider has counted it', () => {
    const { clock, meter, taken, flow } = reasoningMeter({ speed: 900 })
    clock.now = 4000
    flow(60)
    meter.add([usage(9, 5000)])
    expect(taken()).toBe(5000)
    clock.now += 1000
    expect(taken()).toBeWithin(5900, 5902)
  })

  test('is known from the usage alone, until the answer flows', () => {
    const { clock, meter, flow } = reasoningMeter()
    expect(meter.awaitsUsage()).toBe(false)
    clock.now = 4000
    meter.add([text('END')])
    expect(meter.awaitsUsage()).toBe(true)
    flow(60)
    expect(meter.awaitsUsage()).toBe(false)
  })

  test.each([
    ['the provider has counted it', [{ type: 'usage', usage: { ...counts, reasoningTokens: 900 } }]],
    ['the answer is complete', [usage(9, 900), finish]],
  ] as const)('does not have to be awaited where %s', (_, events) => {
    const { meter } = reasoningMeter()
    meter.add([text('END'), ...events])
    expect(meter.awaitsUsage()).toBe(false)
  })

  test('is not awaited of a model that does not reason', () => {
    const meter = new Meter({ generation: requested, model: { routes: [] }, stream: true }, () => 0)
    meter.requestSent(requested)
    meter.accepted()
    meter.add([text('END')])
    expect(meter.awaitsUsage()).toBe(false)
  })

  test('gives complete answers a speed, unless they are short', () => {
    const { clock, meter } = reasoningMeter()
    clock.now = 2000
    meter.add([text('END')])
    expect(meter.speed()).toBeUndefined()
    meter.add([usage(9, 1000), finish])
    expect(meter.speed()).toBe(500)
    const short = reasoningMeter()
    short.clock.now = 2000
    short.meter.add([text('END'), usage(9, 200), finish])
    expect(short.meter.speed()).toBeUndefined()
  })
})

describe('the speed of a route', () => {
  const route = (model: string) => ({ provider: { name: 'acme' }, model }) as ModelRoute

  test('is near the fastest of its last answers, and unknown before the first', () => {
    const speeds = new RouteSpeeds()
    expect(speeds.of(route('river'))).toBeUndefined()
    speeds.record(route('river'), 900)
    speeds.record(route('lake'), 50)
    speeds.record(route('river'), 580)
    expect([speeds.of(route('river')), speeds.of(route('lake'))]).toEqual([890, 50])
    for (let answer = 0; answer < 200; answer++) speeds.record(route('river'), 100)
    expect(speeds.of(route('river'))).toBeWithin(100, 105)
    speeds.record(route('river'), 700)
    expect(speeds.of(route('river'))).toBe(700)
  })

  test('does not count an answer that came from a cache', () => {
    const speeds = new RouteSpeeds()
    speeds.record(route('river'), 100_000)
    expect(speeds.of(route('river'))).toBeUndefined()
  })

  test('is forgotten for the oldest of thousands of routes', () => {
    const speeds = new RouteSpeeds()
    for (let index = 0; index <= 4096; index++) speeds.record(route(String(index)), 500)
    expect([speeds.of(route('0')), speeds.of(route('1')), speeds.of(route('4096'))]).toEqual([
      undefined,
      500,
      500,
    ])
  })
})
