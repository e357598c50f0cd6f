import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { constants, gzipSync } from 'node:zlib'
import type { Paid } from '../money/support/paid.ts'
import { queueRequest, runOver, runTells } from '../../support/background.ts'
import { readPieces } from '../../support/body-reader.ts'
import { breakOff, type End, events, finish, hang, type Script } from '../../support/script.ts'
import { abort, head, raw } from './support/raw-script.ts'
import {
  ask,
  expectBooked,
  expectBroken,
  expectWell,
  type Form,
  good,
  idOf,
  startTrial,
} from './support/trial.ts'
import { type Voice, voices } from './support/voice.ts'

/** What comes once the first words have been heard; none of it lets the answer look whole. */
type Fault = readonly [name: string, script: (voice: Voice, heard: Promise<void>) => Script, code?: string]

/** Four times as deep, nobody could write it any more. */
const deep = `${'{"a":'.repeat(15_000)}1${'}'.repeat(15_000)}`

const stream = { 'content-type': 'text/event-stream' }

/** The stream goes on like this. */
function then(pieces: (voice: Voice) => readonly string[], end: End = finish): Fault[1] {
  return (voice, heard) => events([...voice.begun, heard, ...pieces(voice)], end)
}

const faults: readonly Fault[] = [
  ['it resets the connection', then(() => [], abort)],
  ['it ends the connection', then(() => [], breakOff)],
  ['it ends the body', then(() => [])],
  ['it says nothing more', then(() => [], hang), 'upstream_timeout'],
  ['it breaks off in a frame', then(({ ended }) => [ended[0]!.slice(0, 30)], breakOff)],
  ['it ends the body in a frame', then(({ ended }) => [ended[0]!.slice(0, 30)])],
  ['it goes on with garbage', then(() => ['data: \0\x01garbage\n\n'])],
  ['it goes on with a page', then(() => ['data: <html>\n\n<body>\n\n</html>\n\n'])],
  ['it goes on with a line of 5 MB that is no JSON', then(() => [`data: ${'x'.repeat(5e6)}\n\n`], hang)],
  ['it nests a call without an end', then((voice) => [voice.called(deep)[1], ...voice.ended], hang)],
  ['it tells an error', then(({ error }) => [error])],
  ['it tells an error and goes on', then(({ error, ended }) => [error, ...ended])],
  ['it tells an error and waits', then(({ error }) => [error], hang)],
  [
    'it sends no chunk of the size it says',
    ({ begun }, heard) => {
      const head200 = head(200, { ...stream, 'transfer-encoding': 'chunked' })
      return raw([head200, chunkOf(Buffer.from(begun.join(''))), heard, 'zz\r\nhello\r\n'])
    },
  ],
  [
    'it promises more than it sends',
    ({ begun }, heard) => raw([head(200, { ...stream, 'content-length': '100000' }), begun.join(''), heard]),
  ],
  [
    'what it has compressed is cut off',
    ({ begun }, heard) => {
      const bytes = gzipSync(begun.join(''), { finishFlush: constants.Z_SYNC_FLUSH })
      const headers = { ...stream, 'content-encoding': 'gzip', 'transfer-encoding': 'chunked' }
      return raw([head(200, headers), chunkOf(bytes), heard, '0\r\n\r\n'])
    },
  ],
]

function chunkOf(bytes: Uint8Array): Buffer {
  return Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')])
}

const forms: readonly Form[] = [
  { api: 'chat', stream: true },
  { api: 'responses', stream: true },
]

describe.each(voices.map((voice) => [voice.kind, voice] as const))(
  'the stream of a provider (%s)',
  (_, voice) => {
    let trial: Paid
    beforeAll(async () => {
      trial = await startTrial(voice, { idle: '500ms' }, { other: [good(voice, true)] })
    })
    afterAll(() => trial[Symbol.asyncDispose]())

    test.each(faults.map(([name, script, code]) => [name, script, code ?? 'upstream_unavailable'] as const))(
      'ends with an error when after the first tokens %s',
      async (_, script, code) => {
        const { length } = trial.acme.requests
        const { promise: heard, resolve } = Promise.withResolvers<void>()
        trial.acme.answer(script(voice, heard))
        const replies = await Promise.all(forms.map((form) => ask(trial, form)))
        await Promise.all(replies.map((reply) => readPieces(reply.clone()).until('It is ')))
        const run = await queueRequest(trial.app)
        await runTells(trial.app, run.id, 'It is ')
        resolve()
        for (const [index, form] of forms.entries()) await expectBroken(replies[index]!, form, code)
        expect(await runOver(trial.app, run.id)).toMatchObject({ status: 'failed' })
        const row = { status: 502, error: code, cost: voice.brokenCost, provider: 'acme', estimated: 1 }
        const ids = [...replies.map(idOf), run.request]
        for (const id of ids) expectBooked(trial, id, row)
        expect([trial.acme.requests.length, trial.other.requests]).toEqual([length + 3, []])
        await expectWell(trial, voice)
      },
    )
  },
)
