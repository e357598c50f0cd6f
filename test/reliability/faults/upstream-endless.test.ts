import { describe, expect, test } from 'bun:test'
import { gzipSync } from 'node:zlib'
import type { Script } from '../../support/script.ts'
import { endless, reply } from './support/raw-script.ts'
import { ask, expectBroken, expectRefused, expectWell, type Form, startTrial } from './support/trial.ts'
import { type Voice, voices } from './support/voice.ts'

const stream = { 'content-type': 'text/event-stream' }
const piece = 'x'.repeat(1024 * 1024)
const unavailable = { status: 502, code: 'upstream_unavailable' }
const chat = { api: 'chat', stream: true } as const

/** What a provider goes on with for as long as it is listened to. */
type Flood = readonly [name: string, script: (voice: Voice) => Script, form?: Form]

/** The first words are there before it is too much. */
const breaking: readonly Flood[] = [
  ['a line', ({ begun }) => endless(`${begun.join('')}data: `, piece, stream)],
  ['an event of many lines', ({ begun }) => endless(begun.join(''), `data: ${piece}\n`, stream)],
  [
    'the arguments of a tool call',
    (voice) => endless([...voice.begun, voice.callBegun].join(''), voice.argumentsPiece(piece), stream),
  ],
  ['an answer', ({ begun, text }) => endless(begun.join(''), text(piece), stream)],
  [
    'an answer that is kept',
    ({ begun, text }) => endless(begun.join(''), text(piece), stream),
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

describe.each(voices.map((voice) => [voice.kind, voice] as const))('a provider (%s)', (_, voice) => {
  test.each(breaking.map(([name, script, form]) => [name, script, form ?? chat] as const))(
    'that sends %s without an end is aborted with an error, and its connection closed',
    async (_, script, form) => {
      await using trial = await startTrial(voice)
      trial.acme.answer(script(voice))
      const response = await ask(trial, form)
      await expectBroken(response, form, 'upstream_unavailable')
      expect(await trial.acme.requests[0]!.left).toBe(true)
      await expectWell(trial, voice)
    },
  )
})

describe('a provider', () => {
  const [voice] = voices as readonly [Voice]

  test.each(refused.map(([name, script]) => [name, script] as const))(
    'that sends %s without an end before its first token is aborted, and its connection closed',
    async (_, script) => {
      await using trial = await startTrial(voice)
      trial.acme.answer(script(voice))
      const response = await ask(trial, chat)
      await expectRefused(response, unavailable)
      await expectWell(trial, voice)
    },
  )

  test('that sends endless comments before its first token times out', async () => {
    await using trial = await startTrial(voice, { first_byte: '300ms' })
    trial.acme.answer(endless(': wait\n\n', ': wait\n\n', stream))
    await expectRefused(await ask(trial, chat), { status: 502, code: 'upstream_timeout' })
    expect(await trial.acme.requests[0]!.left).toBe(true)
  })
})
