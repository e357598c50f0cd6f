import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { brotliCompressSync, gzipSync, zstdCompressSync } from 'node:zlib'
import { type BillingScenario, promptCost, replyCost } from '../../support/billing-scenario.ts'
import { events, type Script } from '../../support/script.ts'
import { createUpstream } from '../../support/upstream.ts'
import { head, raw, reply } from './support/raw-script.ts'
import {
  sendRequest,
  expectSettled,
  expectError,
  expectHealthy,
  expectComplete,
  forms,
  idOf,
  normalReply,
  startFaultScenario,
} from './support/fault-scenario.ts'
import { type ProtocolFixture, protocolFixtures } from './support/protocol-fixtures.ts'

/** What is unusual of an answer that is whole all the same. */
type Oddity = readonly [
  name: string,
  script: (voice: ProtocolFixture, stream: boolean) => Script,
  text?: string,
]

const typeOf = (stream: boolean) => (stream ? 'text/event-stream' : 'application/json')
const bodyOf = (fixture: ProtocolFixture, stream: boolean) =>
  stream ? [...fixture.firstFrames, ...fixture.lastFrames].join('') : fixture.complete
const encoded =
  (encoding: string, encode: (text: string) => Uint8Array) => (fixture: ProtocolFixture, stream: boolean) =>
    reply(200, typeOf(stream), encode(bodyOf(fixture, stream)), { 'content-encoding': encoding })
const long = 'x'.repeat(5e6)

const oddities: readonly Oddity[] = [
  ['it is compressed by gzip', encoded('gzip', (text) => gzipSync(text))],
  ['it is compressed by brotli', encoded('br', (text) => brotliCompressSync(text))],
  ['it is compressed by zstd', encoded('zstd', (text) => zstdCompressSync(text))],
  [
    'it has a type in capitals',
    (fixture, stream) => reply(200, typeOf(stream).toUpperCase(), bodyOf(fixture, stream)),
  ],
  ['a stream was asked for, and it is JSON', (fixture) => reply(200, 'application/json', fixture.complete)],
  [
    'JSON was asked for, and it is a stream',
    (fixture) => events([...fixture.firstFrames, ...fixture.lastFrames]),
  ],
  ['its JSON is called a page', (fixture) => reply(200, 'text/html', fixture.complete)],
  [
    'other replies come before it',
    (fixture) => {
      const before = head(100, {}) + head(103, { link: '</x>; rel=preload' })
      const length = String(Buffer.byteLength(fixture.complete))
      return raw([
        before + head(200, { 'content-type': 'application/json', 'content-length': length }),
        fixture.complete,
      ])
    },
  ],
  [
    'more comes after it',
    (fixture) => {
      const length = String(Buffer.byteLength(fixture.complete))
      return raw([
        head(200, { 'content-type': 'application/json', 'content-length': length }),
        `${fixture.complete}HTTP/1.1 500\r\n\r\n`,
      ])
    },
  ],
  [
    'it has a header of 100 kB',
    (fixture) => reply(200, 'application/json', fixture.complete, { x: 'y'.repeat(100_000) }),
  ],
  [
    'a frame of it has 5 MB',
    ({ firstFrames: opening, text, lastFrames: ended }) => events([...opening, text(long), ...ended]),
    long,
  ],
  ['its frames come a byte at a time', (fixture) => events([...bodyOf(fixture, true)])],
]

describe.each(protocolFixtures.map((fixture) => [fixture.kind, fixture] as const))(
  'a reply of a provider (%s)',
  (_, fixture) => {
    let scenario: BillingScenario
    beforeAll(async () => {
      scenario = await startFaultScenario(fixture)
    })
    afterAll(() => scenario[Symbol.asyncDispose]())

    test.each(oddities.map(([name, script, text]) => [name, script, text ?? 'four metres.'] as const))(
      'is complete although %s',
      async (_, script, text) => {
        for (const form of forms) {
          scenario.acme.respondWith(script(fixture, form.stream))
          const response = await sendRequest(scenario, form)
          await expectComplete(response, form, text)
          await expectSettled(scenario, idOf(response), { status: 200, cost: replyCost, estimated: 0 })
        }
        await expectHealthy(scenario, fixture)
      },
    )

    test.each([301, 302, 303, 307, 308])(
      'that is a redirect %d is not followed, with the key or without',
      async (status) => {
        await using elsewhere = await createUpstream(normalReply(fixture, false))
        const location = `${elsewhere.url}/chat/completions`
        scenario.acme.respondWith(raw([head(status, { location, 'content-length': '0' })]))
        for (const form of forms) {
          const response = await sendRequest(scenario, form)
          await expectError(response, { status: 502, code: 'upstream_unavailable' })
          await expectSettled(scenario, idOf(response), { status: 502, cost: 0 })
        }
        expect(elsewhere.requests).toEqual([])
        await expectHealthy(scenario, fixture)
      },
    )

    test.each([1e300, 9_007_199_254_740_991, 2_000_000_000])(
      'that reports %d tokens is charged an estimate instead',
      async (count) => {
        const counted = (text: string) =>
          text.replaceAll(/"(completion_tokens|output_tokens)":5/g, `"$1":${count}`)
        for (const form of forms) {
          const body = counted(bodyOf(fixture, form.stream))
          expect(body).toContain(String(count))
          scenario.acme.respondWith(reply(200, typeOf(form.stream), body))
          const response = await sendRequest(scenario, form)
          await expectComplete(response, form, 'four metres.')
          const { estimated, cost } = (await scenario.billing.usageOf(idOf(response)))!
          expect(estimated).toBe(1)
          expect(cost).toBeWithin(promptCost, 2 * replyCost)
          await expectSettled(scenario, idOf(response), { status: 200 })
        }
        await expectHealthy(scenario, fixture)
      },
    )
  },
)
