import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { gzipSync } from 'node:zlib'
import {
  type BillingScenario,
  type BillingScenarioOptions,
  pricing,
  startBillingScenario,
} from '../../support/billing-scenario.ts'
import { queueRunRequest, waitForRun } from '../../support/background.ts'
import { jsonReply } from '../../support/chat-fixtures.ts'
import { hang, jsonPieces, type Script, silence } from '../../support/script.ts'
import { createUpstream, type Upstream } from '../../support/upstream.ts'
import { abort, head, raw, reply } from './support/raw-script.ts'
import {
  sendRequest,
  expectSettled,
  expectError,
  expectHealthy,
  type RequestForm,
  forms,
  idOf,
  startFaultScenario,
} from './support/fault-scenario.ts'
import { type ProtocolFixture, protocolFixtures } from './support/protocol-fixtures.ts'

const silentModel = 'acme/silent'

/** A model of this provider alone, of which an answer is not awaited for long: others have the usual time. */
function withSilentModel({ kind }: ProtocolFixture, { url }: Upstream): BillingScenarioOptions {
  const provider = { kind, base_url: url, api_key: 'x', timeouts: { first_byte: '500ms' } }
  return {
    settings: { providers: { silent: provider } },
    models: [{ slug: silentModel, pricing, routes: [{ provider: 'silent', model: 'x' }] }],
  }
}

/** What goes wrong before the first word; whoever asks gets an error with its status, and pays nothing. */
type Fault = readonly [name: string, script: (voice: ProtocolFixture, stream: boolean) => Script]

const unavailable = { status: 502, code: 'upstream_unavailable' }
const timeout = { status: 502, code: 'upstream_timeout' }

const silences: readonly ((voice: ProtocolFixture) => Script)[] = [
  () => silence,
  () => raw(['HTTP/1.1 200 OK\r\nconte'], hang),
  (fixture) => jsonPieces([fixture.complete.slice(0, 60)], hang),
  () => raw([head(500, { 'content-length': '900' }), '{"err'], hang),
]

const typeOf = (stream: boolean) => (stream ? 'text/event-stream' : 'application/json')
const bodyOf = (fixture: ProtocolFixture, stream: boolean) =>
  stream ? [...fixture.firstFrames, ...fixture.lastFrames].join('') : fixture.complete
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
  ['it calls a stream something else', (fixture) => reply(200, 'text/plain', bodyOf(fixture, true))],
  ['it calls JSON a stream', (fixture) => reply(200, 'text/event-stream', fixture.complete)],
  [
    'it says that what it sends is compressed, and it is not',
    (fixture, stream) => reply(200, typeOf(stream), bodyOf(fixture, stream), { 'content-encoding': 'gzip' }),
  ],
  [
    'what it has compressed is cut off',
    (fixture, stream) => {
      const bytes = gzipSync(bodyOf(fixture, stream))
      return reply(200, typeOf(stream), bytes.subarray(0, 20), { 'content-encoding': 'gzip' })
    },
  ],
  [
    'it promises more than it sends',
    (fixture) => reply(200, 'application/json', fixture.complete, { 'content-length': '100000' }),
  ],
  ['it breaks off in its JSON', (fixture) => jsonPieces([fixture.complete.slice(0, 60)], abort)],
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
    'it begins with an error',
    (fixture) => reply(200, 'text/event-stream', fixture.error + fixture.lastFrames.join('')),
  ],
  [
    'it waits after its error',
    (fixture) => raw([head(200, { 'content-type': 'text/event-stream' }), fixture.error], hang),
  ],
  [
    'it goes on after the body of its error',
    () => raw([head(500, { 'content-length': '2' }), '{}', 'more'.repeat(1000)], hang),
  ],
]

describe.each(protocolFixtures.map((fixture) => [fixture.kind, fixture] as const))(
  'a call to a provider (%s) fails without a charge when',
  (_, fixture) => {
    let scenario: BillingScenario
    beforeAll(async () => {
      scenario = await startFaultScenario(fixture)
    })
    afterAll(() => scenario[Symbol.asyncDispose]())

    /** Returns the id of the request. */
    async function sendFailing(form: RequestForm): Promise<string> {
      const response = await sendRequest(scenario, form)
      await expectError(response, unavailable)
      const id = idOf(response)
      await expectSettled(scenario, id, { api: form.api, status: 502, error: unavailable.code })
      return id
    }

    async function costOf(id: string): Promise<unknown> {
      return (await scenario.billing.usageOf(id))?.cost
    }

    /** By each API, streamed or not, and in the background; returns what each of the five has cost. */
    async function costsOfFailures(script: Fault[1]): Promise<readonly unknown[]> {
      const { length } = scenario.acme.requests
      const ids: string[] = []
      for (const stream of [false, true]) {
        scenario.acme.respondWith(script(fixture, stream))
        for (const api of ['chat', 'responses'] as const) ids.push(await sendFailing({ api, stream }))
      }
      const run = await queueRunRequest(scenario.app)
      expect(await waitForRun(scenario.app, run.id)).toMatchObject({ status: 'failed', output: [] })
      await expectSettled(scenario, run.request, { status: 502, error: unavailable.code })
      expect(scenario.acme.requests.length).toBe(length + 5)
      await expectHealthy(scenario, fixture)
      return await Promise.all([...ids, run.request].map(costOf))
    }

    test.each(faults.map((fault) => [...fault] as const))(
      'a call to a provider (%s) fails without a charge when',
      async (_, script) => {
        expect(await costsOfFailures(script)).toEqual([0, 0, 0, 0, 0])
      },
    )

    // Beside the others: the provider charges for what it has generated, and a prompt can make it do so.
    test('a call that is nested without an end fails, and is charged', async () => {
      const costs = await costsOfFailures(({ callReply, lastFrames }, stream) => {
        const [complete, frame] = callReply(deep)
        return reply(200, typeOf(stream), stream ? frame + lastFrames.join('') : complete)
      })
      for (const cost of costs) expect(cost).toBeGreaterThan(0)
      expect(costs.length).toBe(5)
    })

    test('it is silent before its first token, at any stage', async () => {
      const scripts = forms.flatMap(() => silences.map((script) => script(fixture)))
      await using silent = await createUpstream(...scripts)
      await using started = await startFaultScenario(fixture, {}, withSilentModel(fixture, silent))
      const more = { model: silentModel }
      const requesting = forms.flatMap((form) => silences.map(() => sendRequest(started, form, more)))
      for (const response of await Promise.all(requesting)) {
        await expectError(response, timeout)
        await expectSettled(started, idOf(response), { status: timeout.status, error: timeout.code, cost: 0 })
      }
      expect(silent.requests.length).toBe(requesting.length)
      await silent.idle()
      await expectHealthy(started, fixture)
    })
  },
)

test('an unreachable provider is reported like one that fails', async () => {
  await using scenario = await startBillingScenario(jsonReply(), {
    settings: { providers: { gone: { kind: 'vllm', base_url: 'http://127.0.0.1:1/v1' } } },
    models: [{ slug: 'acme/gone', pricing, routes: [{ provider: 'gone', model: 'x' }] }],
  })
  for (const form of forms) {
    const response = await sendRequest(scenario, form, { model: 'acme/gone' })
    await expectError(response, unavailable)
    await expectSettled(scenario, idOf(response), { status: 502, error: 'upstream_unavailable', cost: 0 })
  }
  expect(scenario.acme.requests).toEqual([])
})
