import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { brotliCompressSync, gzipSync, zstdCompressSync } from 'node:zlib'
import { type Paid, promptCost, usualCost } from '../money/support/paid.ts'
import { events, type Script } from '../../support/script.ts'
import { createUpstream } from '../../support/upstream.ts'
import { head, raw, reply } from './support/raw-script.ts'
import {
  ask,
  expectBooked,
  expectRefused,
  expectWell,
  expectWhole,
  forms,
  idOf,
  good,
  startTrial,
} from './support/trial.ts'
import { type Voice, voices } from './support/voice.ts'

/** What is unusual of an answer that is whole all the same. */
type Oddity = readonly [name: string, script: (voice: Voice, stream: boolean) => Script, text?: string]

const typeOf = (stream: boolean) => (stream ? 'text/event-stream' : 'application/json')
const bodyOf = (voice: Voice, stream: boolean) =>
  stream ? [...voice.begun, ...voice.ended].join('') : voice.whole
const encoded = (encoding: string, encode: (text: string) => Uint8Array) => (voice: Voice, stream: boolean) =>
  reply(200, typeOf(stream), encode(bodyOf(voice, stream)), { 'content-encoding': encoding })
const long = 'x'.repeat(5e6)

const oddities: readonly Oddity[] = [
  ['it is compressed by gzip', encoded('gzip', (text) => gzipSync(text))],
  ['it is compressed by brotli', encoded('br', (text) => brotliCompressSync(text))],
  ['it is compressed by zstd', encoded('zstd', (text) => zstdCompressSync(text))],
  [
    'it has a type in capitals',
    (voice, stream) => reply(200, typeOf(stream).toUpperCase(), bodyOf(voice, stream)),
  ],
  ['a stream was asked for, and it is JSON', (voice) => reply(200, 'application/json', voice.whole)],
  ['JSON was asked for, and it is a stream', (voice) => events([...voice.begun, ...voice.ended])],
  ['its JSON is called a page', (voice) => reply(200, 'text/html', voice.whole)],
  [
    'other replies come before it',
    (voice) => {
      const before = head(100, {}) + head(103, { link: '</x>; rel=preload' })
      const length = String(Buffer.byteLength(voice.whole))
      return raw([
        before + head(200, { 'content-type': 'application/json', 'content-length': length }),
        voice.whole,
      ])
    },
  ],
  [
    'more comes after it',
    (voice) => {
      const length = String(Buffer.byteLength(voice.whole))
      return raw([
        head(200, { 'content-type': 'application/json', 'content-length': length }),
        `${voice.whole}HTTP/1.1 500\r\n\r\n`,
      ])
    },
  ],
  [
    'it has a header of 100 kB',
    (voice) => reply(200, 'application/json', voice.whole, { x: 'y'.repeat(100_000) }),
  ],
  ['a frame of it has 5 MB', ({ begun, text, ended }) => events([...begun, text(long), ...ended]), long],
  ['its frames come a byte at a time', (voice) => events([...bodyOf(voice, true)])],
]

describe.each(voices.map((voice) => [voice.kind, voice] as const))(
  'a reply of a provider (%s)',
  (_, voice) => {
    let trial: Paid
    beforeAll(async () => {
      trial = await startTrial(voice)
    })
    afterAll(() => trial[Symbol.asyncDispose]())

    test.each(oddities.map(([name, script, text]) => [name, script, text ?? 'four metres.'] as const))(
      'is complete although %s',
      async (_, script, text) => {
        for (const form of forms) {
          trial.acme.answer(script(voice, form.stream))
          const response = await ask(trial, form)
          await expectWhole(response, form, text)
          expectBooked(trial, idOf(response), { status: 200, cost: usualCost, estimated: 0 })
        }
        await expectWell(trial, voice)
      },
    )

    test.each([301, 302, 303, 307, 308])(
      'that is a redirect %d is not followed, with the key or without',
      async (status) => {
        await using elsewhere = await createUpstream(good(voice, false))
        const location = `${elsewhere.url}/chat/completions`
        trial.acme.answer(raw([head(status, { location, 'content-length': '0' })]))
        for (const form of forms) {
          const response = await ask(trial, form)
          await expectRefused(response, { status: 502, code: 'upstream_unavailable' })
          expectBooked(trial, idOf(response), { status: 502, cost: 0 })
        }
        expect(elsewhere.requests).toEqual([])
        await expectWell(trial, voice)
      },
    )

    test.each([1e300, 9_007_199_254_740_991, 2_000_000_000])(
      'that reports %d tokens is charged an estimate instead',
      async (count) => {
        const counted = (text: string) =>
          text.replaceAll(/"(completion_tokens|output_tokens)":5/g, `"$1":${count}`)
        for (const form of forms) {
          const body = counted(bodyOf(voice, form.stream))
          expect(body).toContain(String(count))
          trial.acme.answer(reply(200, typeOf(form.stream), body))
          const response = await ask(trial, form)
          await expectWhole(response, form, 'four metres.')
          const { estimated, cost } = trial.books.row(idOf(response))!
          expect(estimated).toBe(1)
          expect(cost).toBeWithin(promptCost, 2 * usualCost)
          expectBooked(trial, idOf(response), { status: 200 })
        }
        await expectWell(trial, voice)
      },
    )
  },
)
