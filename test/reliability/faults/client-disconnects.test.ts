import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { waitUntil } from '../../support/billing-database.ts'
import { abortedPromptCost, maxCost, type BillingScenario } from '../../support/billing-scenario.ts'
import { firstKey } from '../../support/app.ts'
import { type Connection, openConnection } from '../../support/connection.ts'
import { chatRequest } from '../../support/scenario.ts'
import { events, hang, type Script, silence } from '../../support/script.ts'
import { expectHealthy, type RequestForm, forms, startFaultScenario } from './support/fault-scenario.ts'
import { type ProtocolFixture, protocolFixtures } from './support/protocol-fixtures.ts'

const [fixture] = protocolFixtures as readonly [ProtocolFixture]

/** Where a client leaves: how much of its request it sends, what the provider says, and what it waits for. */
type Stage = {
  /** Of the head and the body of the request, a part each. */
  readonly sent: readonly [head: number, body: number]
  readonly script: Script
  /** What the client has read before it leaves; the provider has the request where there is nothing to read. */
  readonly read?: string
  /** How the usage row says that it ended; no row where the request was never whole enough for one. */
  readonly row?: { readonly status: number; readonly error: string; readonly cost: unknown }
}

const streamed = forms.filter(({ stream }) => stream)
/** Time in which nothing was seen may come on top. */
const left = { status: 499, error: 'client_gone', cost: expect.any(Number) }
const unread = { status: 400, error: 'invalid_request_error', cost: null }
const opening = events(fixture.firstFrames, hang)
const almost = events([...fixture.firstFrames, ...fixture.lastFrames.slice(0, 3)], hang)

const stages: readonly (readonly [name: string, stage: Stage, forms: readonly RequestForm[]])[] = [
  ['before it has said anything', { sent: [0, 0], script: silence }, forms],
  ['in the middle of its headers', { sent: [0.6, 0], script: silence }, forms],
  ['before its body', { sent: [1, 0], script: silence, row: unread }, forms],
  ['in the middle of its body', { sent: [1, 0.5], script: silence, row: unread }, forms],
  ['before the first byte', { sent: [1, 1], script: silence, row: left }, forms],
  [
    'before the first word of a provider that has begun to answer',
    { sent: [1, 1], script: events([], hang), row: left },
    forms,
  ],
  ['after the first words', { sent: [1, 1], script: opening, read: 'It is ', row: left }, streamed],
  ['before the last frame', { sent: [1, 1], script: almost, read: 'four metres', row: left }, streamed],
]

describe('a client that disconnects', () => {
  let scenario: BillingScenario
  beforeAll(async () => {
    scenario = await startFaultScenario(fixture)
  })
  afterAll(() => scenario[Symbol.asyncDispose]())

  test.each(stages.map((stage) => [...stage] as const))('%s', async (_, stage, forms) => {
    const { acme, billing, app } = scenario
    for (const form of forms) {
      const asks = stage.row?.status === 499
      const [requested, rows] = [acme.requests.length, (await billing.usage()).length]
      acme.respondWith(stage.script)
      const connection = await openConnection(app.url)
      send(connection, form, stage.sent)
      if (stage.read) await connection.until(stage.read)
      else if (asks) await acme.request(requested)
      connection.reset()
      if (asks) expect(await acme.requests[requested]!.aborted).toBe(true)
      await expectHealthy(scenario, fixture)
      // That answer has a row of its own.
      await waitUntil(
        async () => (await billing.usage()).length >= rows + (stage.row ? 2 : 1),
        'the row of the call',
      )
      const added = (await billing.usage()).slice(rows)
      if (stage.row) expect(added).toContainEqual(expect.objectContaining({ api: form.api, ...stage.row }))
      if (asks) expect(added[0]?.cost).toBeWithin(abortedPromptCost, maxCost + 1)
      expect(added).toHaveLength(stage.row ? 2 : 1)
      expect(acme.requests.length).toBe(requested + (asks ? 2 : 1))
      expect([await billing.openReservations(), (await billing.account())[1]]).toEqual([0, 0])
      await billing.expectConsistent()
    }
    expect(app.lines).toEqual([])
  })
})

function send(connection: Connection, { api, stream }: RequestForm, [head, body]: Stage['sent']): void {
  const { model, messages } = chatRequest
  const text = JSON.stringify(
    api === 'chat' ? { ...chatRequest, stream } : { model, input: messages, stream },
  )
  const path = api === 'chat' ? '/v1/chat/completions' : '/v1/responses'
  const lines = `host: a\r\nauthorization: Bearer ${firstKey}\r\ncontent-length: ${text.length}`
  const complete = `POST ${path} HTTP/1.1\r\n${lines}\r\n\r\n`
  connection.write(complete.slice(0, complete.length * head) + text.slice(0, text.length * body))
}
