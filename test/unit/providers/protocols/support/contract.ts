import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { GenerationEvent } from '../../../../../src/domain/generation/events.ts'
import type { Protocol } from '../../../../../src/providers/protocols/protocol.ts'
import { parsedReply, type ParsedChoice, readStream } from './parsed-reply.ts'
import { type CutCall, expectOrderlyCalls } from './call-events.ts'
import { exampleGeneration } from './generations.ts'
import { cutsOf, randomFrom } from './random.ts'

/** The expected content of each protocol's fixture of this name, streamed and complete. */
const output: Record<string, Partial<ParsedChoice>> = {
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
 * The contract of every protocol. The folder has NAME.json and NAME.sse for each name above, and `error.json`,
 * `stream-error.sse` and `unknown-events.sse`; all of them in the format of the protocol.
 */
export function testProtocolContract(name: string, protocol: Protocol): void {
  const file = (path: string) => readFileSync(join(import.meta.dir, '../../../../fixtures', name, path))
  describe(`the ${name} protocol`, () => {
    for (const fixture of Object.keys(output)) holdFixture(protocol, fixture, file)
    holdFailures(protocol, file)
    holdRequest(protocol)
  })
}

type ReadFixture = (path: string) => Buffer

function holdFixture(protocol: Protocol, fixture: string, file: ReadFixture): void {
  test(`parses the streamed reply "${fixture}"`, () => {
    expectOutput(readStream(protocol, file(`${fixture}.sse`)), fixture)
  })

  test(`parses the complete reply "${fixture}"`, () => {
    expectOutput(protocol.parse(JSON.parse(file(`${fixture}.json`).toString())), fixture)
  })

  test(`parses the streamed reply "${fixture}" alike however it is split`, () => {
    const body = file(`${fixture}.sse`)
    const complete = readStream(protocol, body)
    const random = randomFrom(fixture)
    for (let round = 0; round < 50; round++)
      expect(readStream(protocol, body, cutsOf(body, random))).toEqual(complete)
  })

  test(`never takes a truncated "${fixture}" for a complete one`, () => {
    const body = file(`${fixture}.sse`)
    const complete = readStream(protocol, body)
    for (let length = 0; length < body.length; length++) {
      expectHonest(readStream(protocol, body.subarray(0, length)), complete)
    }
  })
}

/** One choice with exactly this content, then its finish reason, and nothing after it. */
function expectOutput(events: readonly GenerationEvent[], fixture: string): void {
  const reply = parsedReply(events)
  const choice = { text: '', reasoning: '', calls: [], finish: 'stop', ...output[fixture] }
  expect(reply.failures).toEqual([])
  expect(reply.choices).toEqual([{ ...choice, ids: expect.any(Array) } as ParsedChoice])
  expect(new Set(reply.choices[0]?.ids).size).toBe(choice.calls.length)
  expect(reply.usage).toMatchObject(usage)
  expect(events.map((event) => event.type).indexOf('finish')).toBe(events.length - 1)
  expect(expectOrderlyCalls(events)).toEqual([])
}

/**
 * Either the finish or a failure comes last, never both; text is a beginning and calls are whole, but for those that
 * have begun and do not end.
 */
function expectHonest(events: readonly GenerationEvent[], complete: readonly GenerationEvent[]): void {
  const [part, all] = [parsedReply(events), parsedReply(complete)]
  const end = events.findIndex((event) => event.type === 'finish' || event.type === 'failure')
  expect(end).toBe(events.length - 1)
  expect(all.choices[0]?.text ?? '').toStartWith(part.choices[0]?.text ?? '')
  const calls = part.choices[0]?.calls ?? []
  expect(calls).toEqual(all.choices[0]?.calls.slice(0, calls.length) ?? [])
  expectBeginning(expectOrderlyCalls(events), all.choices[0]?.calls.slice(calls.length) ?? [])
  if (part.failures.length === 0) expect(part.choices).toEqual(all.choices)
}

function expectBeginning(cut: readonly CutCall[], rest: ParsedChoice['calls']): void {
  for (const [index, { name, text }] of cut.entries()) {
    expect(name).toBe(rest[index]?.name ?? '')
    expect(rest[index]?.arguments).toStartWith(text)
  }
}

function holdFailures(protocol: Protocol, file: ReadFixture): void {
  test('reports an error inside a stream as a failure, after the output before it', () => {
    const events = readStream(protocol, file('stream-error.sse'))
    expect(parsedReply(events).choices[0]?.text).toBe('The gate')
    expect(parsedReply(events).choices[0]?.finish).toBeUndefined()
    expect(parsedReply(events).failures).toMatchObject([
      { message: 'The machine that ran the model was lost.' },
    ])
    expect(events.at(-1)?.type).toBe('failure')
  })

  test('parses an error body', () => {
    const complaint = protocol.parseError(JSON.parse(file('error.json').toString()))
    expect(complaint.message).toBe('The model `no-such-model` does not exist.')
  })

  test('reports an error body with status 200 as a failure', () => {
    const events = protocol.parse(JSON.parse(file('error.json').toString()))
    expect(events.map((event) => event.type)).toEqual(['failure'])
  })

  test('skips unknown events', () => {
    const reply = parsedReply(readStream(protocol, file('unknown-events.sse')))
    expect(reply.failures).toEqual([])
    expect(reply.choices).toMatchObject([{ text: 'Still here.', finish: 'stop' }])
  })

  test('reports a stream without any event as a failure', () => {
    expect(readStream(protocol, Buffer.from('')).map((event) => event.type)).toEqual(['failure'])
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
      expect(parsedReply(protocol.parse(body)).failures).toHaveLength(1)
      expect(protocol.parseError(body).message).not.toBe('')
      const stream = readStream(protocol, Buffer.from(`data: ${JSON.stringify(body)}\n\n`))
      expect(parsedReply(stream).failures).toHaveLength(1)
    }
  })
}

function holdRequest(protocol: Protocol): void {
  const render = (stream: boolean) => {
    const warnings: string[] = []
    const target = { model: 'example-model', stream }
    const body = protocol.render(exampleGeneration, target, (message) => warnings.push(message))
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
