import { describe, expect, test } from 'bun:test'
import { gzipSync } from 'node:zlib'
import type { Script } from '../../support/script.ts'
import { endless, reply } from './support/raw-script.ts'
import {
  sendRequest,
  expectBrokenStream,
  expectError,
  expectHealthy,
  type RequestForm,
  startFaultScenario,
} from './support/fault-scenario.ts'
import { type ProtocolFixture, protocolFixtures } from './support/protocol-fixtures.ts'

const stream = { 'content-type': 'text/event-stream' }
const piece = 'x'.repeat(1024 * 1024)
const unavailable = { status: 502, code: 'upstream_unavailable' }
const chat = { api: 'chat', stream: true } as const

/** What a provider goes on with for as long as it is listened to. */
type Flood = readonly [name: string, script: (voice: ProtocolFixture) => Script, form?: RequestForm]

/** The first words are there before it is too much. */
const breaking: readonly Flood[] = [
  ['a line', ({ firstFrames: opening }) => endless(`${opening.join('')}data: `, piece, stream)],
  [
    'an event of many lines',
    ({ firstFrames: opening }) => endless(opening.join(''), `data: ${piece}\n`, stream),
  ],
  [
    'the arguments of a tool call',
    (fixture) =>
      endless(
        [...fixture.firstFrames, fixture.firstCallFrame].join(''),
        fixture.argumentsFrame(piece),
        stream,
      ),
  ],
  ['an answer', ({ firstFrames: opening, text }) => endless(opening.join(''), text(piece), stream)],
  [
    'an answer that is kept',
    ({ firstFrames: opening, text }) => endless(opening.join(''), text(piece), stream),
    { ...chat, api: 'responses' },
  ],
]

/** Nothing that can be told has come. */
const refused: readonly Flood[] = [
  ['a body of JSON', () => endless('{"x":"', piece, { 'content-type': 'application/json' })],
  ['the body of an error', () => endless('{"x":"', piece, { 'content-type': 'application/json' }, 500)],
  ['a page', () => endless('<html>', piece, { 'content-type': 'text/html' })],
  ['its headers', () => endless('', '', { x: 'y'.repeat(2_000_000) })],
  [
    'a body that was compressed a thousandfold',
    () =>
      reply(200, 'application/json', gzipSync(Buffer.alloc(100_000_000, 32)), { 'content-encoding': 'gzip' }),
  ],
  [
    'a stream that was compressed a thousandfold',
    () =>
      reply(200, 'text/event-stream', gzipSync(Buffer.alloc(100_000_000, 32)), {
        'content-encoding': 'gzip',
      }),
  ],
]

describe.each(protocolFixtures.map((fixture) => [fixture.kind, fixture] as const))(
  'a provider (%s)',
  (_, fixture) => {
    test.each(breaking.map(([name, script, form]) => [name, script, form ?? chat] as const))(
      'that sends %s without an end is aborted with an error, and its connection closed',
      async (_, script, form) => {
        await using scenario = await startFaultScenario(fixture)
        scenario.acme.respondWith(script(fixture))
        const response = await sendRequest(scenario, form)
        await expectBrokenStream(response, form, 'upstream_unavailable')
        expect(await scenario.acme.requests[0]!.aborted).toBe(true)
        await expectHealthy(scenario, fixture)
      },
    )
  },
)

describe('a provider', () => {
  const [fixture] = protocolFixtures as readonly [ProtocolFixture]

  test.each(refused.map(([name, script]) => [name, script] as const))(
    'that sends %s without an end before its first token is aborted, and its connection closed',
    async (_, script) => {
      await using scenario = await startFaultScenario(fixture)
      scenario.acme.respondWith(script(fixture))
      const response = await sendRequest(scenario, chat)
      await expectError(response, unavailable)
      await expectHealthy(scenario, fixture)
    },
  )

  test('that sends endless comments before its first token times out', async () => {
    await using scenario = await startFaultScenario(fixture, { first_byte: '300ms' })
    scenario.acme.respondWith(endless(': wait\n\n', ': wait\n\n', stream))
    await expectError(await sendRequest(scenario, chat), { status: 502, code: 'upstream_timeout' })
    expect(await scenario.acme.requests[0]!.aborted).toBe(true)
  })
})
