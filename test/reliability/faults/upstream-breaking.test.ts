import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { constants, gzipSync } from 'node:zlib'
import type { BillingScenario } from '../../support/billing-scenario.ts'
import { queueRunRequest, waitForRun, waitForOutput } from '../../support/background.ts'
import { readPieces } from '../../support/body-reader.ts'
import { breakOff, type End, events, finish, hang, type Script } from '../../support/script.ts'
import { abort, head, raw } from './support/raw-script.ts'
import {
  sendRequest,
  expectSettled,
  expectBrokenStream,
  expectHealthy,
  type RequestForm,
  normalReply,
  idOf,
  startFaultScenario,
} from './support/fault-scenario.ts'
import { type ProtocolFixture, protocolFixtures } from './support/protocol-fixtures.ts'

/** What comes once the first words have been heard; none of it lets the answer look whole. */
type Fault = readonly [
  name: string,
  script: (voice: ProtocolFixture, heard: Promise<void>) => Script,
  code?: string,
]

/** Such an answer counts as too large, so that its charge is an estimate by its duration as well. */
const nestedCall = 'it nests a call without an end'
/** Four times as deep, nobody could write it any more. */
const deep = `${'{"a":'.repeat(15_000)}1${'}'.repeat(15_000)}`

const stream = { 'content-type': 'text/event-stream' }

/** The stream goes on like this. Its first words come in one piece: between two, a busy gateway could see a pause. */
function then(pieces: (voice: ProtocolFixture) => readonly string[], end: End = finish): Fault[1] {
  return (fixture, received) => events([fixture.firstFrames.join(''), received, ...pieces(fixture)], end)
}

const faults: readonly Fault[] = [
  ['it resets the connection', then(() => [], abort)],
  ['it ends the connection', then(() => [], breakOff)],
  ['it ends the body', then(() => [])],
  ['it says nothing more', then(() => [], hang), 'upstream_timeout'],
  ['it breaks off in a frame', then(({ lastFrames: ended }) => [ended[0]!.slice(0, 30)], breakOff)],
  ['it ends the body in a frame', then(({ lastFrames: ended }) => [ended[0]!.slice(0, 30)])],
  ['it goes on with garbage', then(() => ['data: \0\x01garbage\n\n'])],
  ['it goes on with a page', then(() => ['data: <html>\n\n<body>\n\n</html>\n\n'])],
  ['it goes on with a line of 5 MB that is no JSON', then(() => [`data: ${'x'.repeat(5e6)}\n\n`], hang)],
  [nestedCall, then((fixture) => [fixture.callReply(deep)[1], ...fixture.lastFrames], hang)],
  ['it tells an error', then(({ error }) => [error])],
  ['it tells an error and goes on', then(({ error, lastFrames: ended }) => [error, ...ended])],
  ['it tells an error and waits', then(({ error }) => [error], hang)],
  [
    'it sends no chunk of the size it says',
    ({ firstFrames: opening }, received) => {
      const head200 = head(200, { ...stream, 'transfer-encoding': 'chunked' })
      return raw([head200, chunkOf(Buffer.from(opening.join(''))), received, 'zz\r\nhello\r\n'])
    },
  ],
  [
    'it promises more than it sends',
    ({ firstFrames: opening }, received) =>
      raw([head(200, { ...stream, 'content-length': '100000' }), opening.join(''), received]),
  ],
  [
    'what it has compressed is cut off',
    ({ firstFrames: opening }, received) => {
      const bytes = gzipSync(opening.join(''), { finishFlush: constants.Z_SYNC_FLUSH })
      const headers = { ...stream, 'content-encoding': 'gzip', 'transfer-encoding': 'chunked' }
      return raw([head(200, headers), chunkOf(bytes), received, '0\r\n\r\n'])
    },
  ],
]

function chunkOf(bytes: Uint8Array): Buffer {
  return Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')])
}

const forms: readonly RequestForm[] = [
  { api: 'chat', stream: true },
  { api: 'responses', stream: true },
]

describe.each(protocolFixtures.map((fixture) => [fixture.kind, fixture] as const))(
  'the stream of a provider (%s)',
  (_, fixture) => {
    const start = (idle?: string) =>
      startFaultScenario(fixture, { idle }, { other: [normalReply(fixture, true)] })
    let patient: BillingScenario
    beforeAll(async () => {
      patient = await start()
    })
    afterAll(() => patient[Symbol.asyncDispose]())

    test.each(faults.map(([name, script, code]) => [name, script, code ?? 'upstream_unavailable'] as const))(
      'ends with an error when after the first tokens %s',
      async (name, script, code) => {
        await using impatient = code === 'upstream_timeout' ? await start('500ms') : undefined
        const scenario = impatient ?? patient
        const { length } = scenario.acme.requests
        const { promise: received, resolve } = Promise.withResolvers<void>()
        scenario.acme.respondWith(script(fixture, received))
        const replies = await Promise.all(forms.map((form) => sendRequest(scenario, form)))
        await Promise.all(replies.map((reply) => readPieces(reply.clone()).until('It is ')))
        const run = await queueRunRequest(scenario.app)
        await waitForOutput(scenario.app, run.id, 'It is ')
        resolve()
        for (const [index, form] of forms.entries()) await expectBrokenStream(replies[index]!, form, code)
        expect(await waitForRun(scenario.app, run.id)).toMatchObject({ status: 'failed' })
        const row = { status: 502, error: code, provider: 'acme', estimated: 1 }
        for (const id of [...replies.map(idOf), run.request]) {
          await expectSettled(scenario, id, row)
          const cost = (await scenario.billing.usageOf(id))?.cost
          if (name === nestedCall) expect(cost).toBeGreaterThan(fixture.brokenCost)
          else expect(cost).toBe(fixture.brokenCost)
        }
        expect([scenario.acme.requests.length, scenario.other.requests]).toEqual([length + 3, []])
        await expectHealthy(scenario, fixture)
      },
    )
  },
)
