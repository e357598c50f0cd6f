import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { gzipSync } from 'node:zlib'
import { type Paid, pricing, startPaid } from '../money/support/paid.ts'
import { queueRequest, runOver } from '../../support/background.ts'
import { whole } from '../../support/chat-answers.ts'
import { hang, jsonPieces, type Script, silence } from '../../support/script.ts'
import { abort, head, raw, reply } from './support/raw-script.ts'
import {
  ask,
  expectBooked,
  expectRefused,
  expectWell,
  type Failed,
  type Form,
  forms,
  idOf,
  startTrial,
} from './support/trial.ts'
import { type Voice, voices } from './support/voice.ts'

/** What goes wrong before the first word; whoever asks gets an error with its status, and pays nothing. */
type Fault = readonly [name: string, script: (voice: Voice, stream: boolean) => Script]

const unavailable = { status: 502, code: 'upstream_unavailable' }
const timeout = { status: 502, code: 'upstream_timeout' }

const silences: readonly ((voice: Voice) => Script)[] = [
  () => silence,
  () => raw(['HTTP/1.1 200 OK\r\nconte'], hang),
  (voice) => jsonPieces([voice.whole.slice(0, 60)], hang),
  () => raw([head(500, { 'content-length': '900' }), '{"err'], hang),
]

const typeOf = (stream: boolean) => (stream ? 'text/event-stream' : 'application/json')
const bodyOf = (voice: Voice, stream: boolean) =>
  stream ? [...voice.begun, ...voice.ended].join('') : voice.whole
const page = `<!doctype html><html><body>${'<p>Bad gateway</p>'.repeat(100)}</body></html>`
/** Four times as deep, nobody could write it any more. */
const deep = `${'{"a":'.repeat(15_000)}1${'}'.repeat(15_000)}`

const faults: readonly Fault[] = [
  ['it resets the connection', () => raw([], abort)],
  ['it ends the connection without a word', () => raw([])],
  ['it sends bytes that are no HTTP', () => raw(['\0\x01\xff\xfe garbage\r\n\r\n'.repeat(50)])],
  ['it speaks another protocol', () => raw(['220 mail.acme.test ESMTP\r\n'])],
  ['it sends half a status line', () => raw(['HTTP/1.1 20'])],
  ['it sends half of its headers', () => raw(['HTTP/1.1 200 OK\r\ncontent-ty'])],
  ['it switches protocols', () => raw([head(101, { upgrade: 'x', connection: 'upgrade' })])],
  ['it has no content', () => raw([head(204, {})])],
  ['it sends a page', () => reply(200, 'text/html', page)],
  ['it sends a page as what was asked for', (_, stream) => reply(200, typeOf(stream), page)],
  ['it sends a page with its error', () => reply(503, 'text/html', page)],
  ['it sends nothing', (_, stream) => reply(200, typeOf(stream), '')],
  ['it calls a stream something else', (voice) => reply(200, 'text/plain', bodyOf(voice, true))],
  ['it calls JSON a stream', (voice) => reply(200, 'text/event-stream', voice.whole)],
  [
    'it says that what it sends is compressed, and it is not',
    (voice, stream) => reply(200, typeOf(stream), bodyOf(voice, stream), { 'content-encoding': 'gzip' }),
  ],
  [
    'what it has compressed is cut off',
    (voice, stream) => {
      const bytes = gzipSync(bodyOf(voice, stream))
      return reply(200, typeOf(stream), bytes.subarray(0, 20), { 'content-encoding': 'gzip' })
    },
  ],
  [
    'it promises more than it sends',
    (voice) => reply(200, 'application/json', voice.whole, { 'content-length': '100000' }),
  ],
  ['it breaks off in its JSON', (voice) => jsonPieces([voice.whole.slice(0, 60)], abort)],
  [
    'it sends no chunk of the size it says',
    (_, stream) =>
      raw([head(200, { 'content-type': typeOf(stream), 'transfer-encoding': 'chunked' }), 'zz\r\nhello']),
  ],
  [
    'it sends a line of 5 MB that is no JSON',
    () => reply(200, 'text/event-stream', `data: ${'x'.repeat(5e6)}\n\n`),
  ],
  [
    'it sends JSON of 5 MB that says nothing',
    () => reply(200, 'application/json', `{"x":"${'x'.repeat(5e6)}"}`),
  ],
  [
    'it nests a call without an end',
    (voice, stream) => {
      const [whole, frame] = voice.called(deep)
      return reply(200, typeOf(stream), stream ? frame + voice.ended.join('') : whole)
    },
  ],
  ['it begins with an error', (voice) => reply(200, 'text/event-stream', voice.error + voice.ended.join(''))],
  [
    'it waits after its error',
    (voice) => raw([head(200, { 'content-type': 'text/event-stream' }), voice.error], hang),
  ],
  [
    'it goes on after the body of its error',
    () => raw([head(500, { 'content-length': '2' }), '{}', 'more'.repeat(1000)], hang),
  ],
]

describe.each(voices.map((voice) => [voice.kind, voice] as const))(
  'a call to a provider (%s) fails without a charge when',
  (_, voice) => {
    let trial: Paid
    beforeAll(async () => {
      trial = await startTrial(voice)
    })
    afterAll(() => trial[Symbol.asyncDispose]())

    async function expectFailure(form: Form, failed: Failed): Promise<void> {
      const response = await ask(trial, form)
      await expectRefused(response, failed)
      expectBooked(trial, idOf(response), {
        api: form.api,
        status: failed.status,
        error: failed.code,
        cost: 0,
      })
    }

    test.each(faults.map((fault) => [...fault] as const))(
      'a call to a provider (%s) fails without a charge when',
      async (_, script) => {
        const { length } = trial.acme.requests
        for (const stream of [false, true]) {
          trial.acme.answer(script(voice, stream))
          await expectFailure({ api: 'chat', stream }, unavailable)
          await expectFailure({ api: 'responses', stream }, unavailable)
        }
        const run = await queueRequest(trial.app)
        expect(await runOver(trial.app, run.id)).toMatchObject({ status: 'failed', output: [] })
        expectBooked(trial, run.request, { status: 502, error: unavailable.code, cost: 0 })
        expect(trial.acme.requests.length).toBe(length + 5)
        await expectWell(trial, voice)
      },
    )

    test('it is silent before its first token, at any stage', async () => {
      await using impatient = await startTrial(voice, { first_byte: '500ms' })
      impatient.acme.answer(...forms.flatMap(() => silences.map((silent) => silent(voice))))
      const asking = forms.flatMap((form) => silences.map(() => ask(impatient, form)))
      for (const response of await Promise.all(asking)) {
        await expectRefused(response, timeout)
        expectBooked(impatient, idOf(response), { status: timeout.status, error: timeout.code, cost: 0 })
      }
      expect(impatient.acme.requests.length).toBe(asking.length)
      await expectWell(impatient, voice)
    })
  },
)

test('an unreachable provider is reported like one that fails', async () => {
  await using trial = await startPaid(whole(), {
    settings: { providers: { gone: { kind: 'vllm', base_url: 'http://127.0.0.1:1/v1' } } },
    models: [{ slug: 'acme/gone', pricing, routes: [{ provider: 'gone', model: 'x' }] }],
  })
  for (const form of forms) {
    const response = await ask(trial, form, { model: 'acme/gone' })
    await expectRefused(response, unavailable)
    expectBooked(trial, idOf(response), { status: 502, error: 'upstream_unavailable', cost: 0 })
  }
  expect(trial.acme.requests).toEqual([])
})
