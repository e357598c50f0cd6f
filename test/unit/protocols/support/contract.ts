import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { GenerationEvent } from '../../../../src/domain/generation/events.ts'
import type { Protocol } from '../../../../src/providers/protocols/protocol.ts'
import { answerOf, type ReadChoice, readStream } from './answer.ts'
import { type CutCall, expectOrderlyCalls } from './call-events.ts'
import { exampleGeneration } from './generations.ts'
import { cutsOf, randomFrom } from './random.ts'

/** What every wire's fixture of this name says, streamed and whole. */
const said: Record<string, Partial<ReadChoice>> = {
  text: { text: 'A weir measures the river – 水位 🌊 falls by 3 cm.' },
  reasoning: { reasoning: 'Two gates are shut, so the level rises.', text: 'It rises.' },
  tools: { calls: [{ name: 'open_gate', arguments: '{"gate":"north","cm":40}' }], finish: 'tool_calls' },
  'parallel-tools': {
    text: 'I look twice.',
    calls: [
      { name: 'read_level', arguments: '{"at":"dam"}' },
      { name: 'read_clock', arguments: '{}' },
    ],
    finish: 'tool_calls',
  },
  schema: { text: '{"gates":["north","south"],"open":1}' },
  limit: { text: 'The river is very', finish: 'length' },
  filter: { text: 'I will', finish: 'content_filter' },
  empty: {},
}
const usage = { promptTokens: 20, completionTokens: 12, cachedTokens: 8, reasoningTokens: 5 }

/**
 * What every wire promises. The folder holds NAME.json and NAME.sse for each name above, and `error.json`,
 * `stream-error.sse` and `unknown-events.sse`; all of them in the wire's own format.
 */
export function testProtocolContract(name: string, wire: Protocol): void {
  const file = (path: string) => readFileSync(join(import.meta.dir, '../../../fixtures', name, path))
  describe(`the ${name} protocol`, () => {
    for (const fixture of Object.keys(said)) holdFixture(wire, fixture, file)
    holdFailures(wire, file)
    holdRequest(wire)
  })
}

type ReadFixture = (path: string) => Buffer

function holdFixture(wire: Protocol, fixture: string, file: ReadFixture): void {
  test(`parses the streamed reply "${fixture}"`, () => {
    expectSaid(readStream(wire, file(`${fixture}.sse`)), fixture)
  })

  test(`parses the complete reply "${fixture}"`, () => {
    expectSaid(wire.parse(JSON.parse(file(`${fixture}.json`).toString())), fixture)
  })

  test(`parses the streamed reply "${fixture}" alike however it is split`, () => {
    const body = file(`${fixture}.sse`)
    const whole = readStream(wire, body)
    const random = randomFrom(fixture)
    for (let round = 0; round < 50; round++)
      expect(readStream(wire, body, cutsOf(body, random))).toEqual(whole)
  })

  test(`never takes a truncated "${fixture}" for a complete one`, () => {
    const body = file(`${fixture}.sse`)
    const whole = readStream(wire, body)
    for (let length = 0; length < body.length; length++) {
      expectHonest(readStream(wire, body.subarray(0, length)), whole)
    }
  })
}

/** One choice that says just this, then its finish, and nothing after it. */
function expectSaid(events: readonly GenerationEvent[], fixture: string): void {
  const answer = answerOf(events)
  const choice = { text: '', reasoning: '', calls: [], finish: 'stop', ...said[fixture] }
  expect(answer.failures).toEqual([])
  expect(answer.choices).toEqual([{ ...choice, ids: expect.any(Array) } as ReadChoice])
  expect(new Set(answer.choices[0]?.ids).size).toBe(choice.calls.length)
  expect(answer.usage).toMatchObject(usage)
  expect(events.map((event) => event.type).indexOf('finish')).toBe(events.length - 1)
  expect(expectOrderlyCalls(events)).toEqual([])
}

/**
 * Either the finish or a failure comes last, never both; text is a beginning and calls are whole, but for those that
 * have begun and do not end.
 */
function expectHonest(events: readonly GenerationEvent[], whole: readonly GenerationEvent[]): void {
  const [part, all] = [answerOf(events), answerOf(whole)]
  const end = events.findIndex((event) => event.type === 'finish' || event.type === 'failure')
  expect(end).toBe(events.length - 1)
  expect(all.choices[0]?.text ?? '').toStartWith(part.choices[0]?.text ?? '')
  const calls = part.choices[0]?.calls ?? []
  expect(calls).toEqual(all.choices[0]?.calls.slice(0, calls.length) ?? [])
  expectBeginning(expectOrderlyCalls(events), all.choices[0]?.calls.slice(calls.length) ?? [])
  if (part.failures.length === 0) expect(part.choices).toEqual(all.choices)
}

function expectBeginning(cut: readonly CutCall[], rest: ReadChoice['calls']): void {
  for (const [index, { name, text }] of cut.entries()) {
    expect(name).toBe(rest[index]?.name ?? '')
    expect(rest[index]?.arguments).toStartWith(text)
  }
}

function holdFailures(wire: Protocol, file: ReadFixture): void {
  test('reports an error inside a stream as a failure, after the output before it', () => {
    const events = readStream(wire, file('stream-error.sse'))
    expect(answerOf(events).choices[0]?.text).toBe('The gate')
    expect(answerOf(events).choices[0]?.finish).toBeUndefined()
    expect(answerOf(events).failures).toMatchObject([{ message: 'The machine that ran the model was lost.' }])
    expect(events.at(-1)?.type).toBe('failure')
  })

  test('parses an error body', () => {
    const complaint = wire.parseError(JSON.parse(file('error.json').toString()))
    expect(complaint.message).toBe('The model `no-such-model` does not exist.')
  })

  test('reports an error body with status 200 as a failure', () => {
    const events = wire.parse(JSON.parse(file('error.json').toString()))
    expect(events.map((event) => event.type)).toEqual(['failure'])
  })

  test('skips unknown events', () => {
    const answer = answerOf(readStream(wire, file('unknown-events.sse')))
    expect(answer.failures).toEqual([])
    expect(answer.choices).toMatchObject([{ text: 'Still here.', finish: 'stop' }])
  })

  test('reports a stream without any event as a failure', () => {
    expect(readStream(wire, Buffer.from('')).map((event) => event.type)).toEqual(['failure'])
  })

  test('never throws', () => {
    for (const body of [
      null,
      undefined,
      7,
      '',
      'text',
      '<html>',
      [],
      [null],
      {},
      { choices: 3 },
      { error: 1 },
    ]) {
      expect(answerOf(wire.parse(body)).failures).toHaveLength(1)
      expect(wire.parseError(body).message).not.toBe('')
      const stream = readStream(wire, Buffer.from(`data: ${JSON.stringify(body)}\n\n`))
      expect(answerOf(stream).failures).toHaveLength(1)
    }
  })
}

function holdRequest(wire: Protocol): void {
  const render = (stream: boolean) => {
    const warnings: string[] = []
    const target = { model: 'example-model', stream }
    const body = wire.render(exampleGeneration, target, (sentence) => warnings.push(sentence))
    return { text: JSON.stringify(body), warnings }
  }

  test('renders the messages, the image, the tools and their calls', () => {
    const { text } = render(true)
    for (const word of [
      'Read the gauge.',
      'QUJD',
      'read_level',
      'at the dam',
      'The level is 4 m.',
      'upstream',
    ]) {
      expect(text).toContain(word)
    }
    expect(text).not.toContain('undefined')
  })

  test('warns in complete sentences and once each', () => {
    const { warnings } = render(false)
    expect(warnings).toEqual([...new Set(warnings)])
    for (const warning of warnings) expect(warning).toEndWith('.')
  })
}
