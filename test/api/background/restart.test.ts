import { describe, expect, test } from 'bun:test'
import { decodeEvents } from '../../../src/api/responses/events/event-log.ts'
import { queueRun, waitForOutput, waitForRun } from '../../support/background.ts'
import { type BillingScenario, replyCost, startBillingScenario } from '../../support/billing-scenario.ts'
import { chunks, delta, streamReply } from '../../support/chat-fixtures.ts'
import { createResponse, replayResponse, retrieveResponse, textOf } from '../../support/responses.ts'
import type { Scenario } from '../../support/scenario.ts'
import { breakOffLate as breakOff, events, type Piece } from '../../support/script.ts'

const start = 1e9
const begun = delta({ role: 'assistant', content: 'It is fifty ' })
const settings = { retries: { attempts: 3 } }
const other = [streamReply()]

/** The beginning of an answer, which is cut once the pieces that follow it are sent. */
const cut = (...pieces: readonly Piece[]) => chunks([begun, ...pieces], breakOff)

/** How often the two routes were called. */
const calls = ({ acme, other }: Scenario) => [acme.requests.length, other.requests.length]

/** One row has this cost, which was taken once; nothing is reserved. */
async function expectCharged({ billing }: BillingScenario, cost: number): Promise<void> {
  const rows = await billing.waitForUsage(1)
  expect(rows.map((row) => row.cost)).toEqual([cost])
  expect(await billing.account()).toEqual([start - cost, 0])
  expect(await billing.entries()).toEqual([['credit', start], ...(cost > 0 ? [['charge', -cost]] : [])])
  await billing.expectConsistent()
}

/** The events of the only run as they are stored. */
async function storedEvents({ billing }: BillingScenario) {
  const [row] = await billing.values('SELECT log FROM responses')
  const pieces = await billing.values('SELECT entries FROM response_log ORDER BY position')
  const all = [row, ...pieces].map((values) => String(values?.[0] ?? ''))
  return { text: all.join(''), events: decodeEvents(all.join('')) }
}

describe('a background run whose answer breaks off', () => {
  test('starts again on the next route while no client has seen any of it, and is charged once', async () => {
    await using paid = await startBillingScenario(cut(), { settings, other })
    const { id } = await queueRun(paid.app)
    await expectCharged(paid, replyCost)
    const response = await retrieveResponse(paid.app, id)
    expect([response.status, response.provider, textOf(response)]).toEqual([
      'completed',
      'other',
      'It is four metres.',
    ])
    expect(calls(paid)).toEqual([1, 1])
    const { events, last } = await replayResponse(paid.app, id)
    expect(events.map(({ sequence_number }) => sequence_number)).toEqual(events.map((_, index) => index))
    expect([last?.provider, JSON.stringify(events).includes('fifty')]).toEqual(['other', false])
  })

  test('starts again after its beginning was stored, and the log has the other answer alone', async () => {
    const [broken, complete] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const second = chunks([begun, complete.promise, delta({ content: 'metres.' }), delta({}, 'stop')])
    await using paid = await startBillingScenario(cut(broken.promise), { settings, other: [second] })
    await queueRun(paid.app)
    while (!(await storedEvents(paid)).text.includes('fifty')) await Bun.sleep(20)
    broken.resolve()
    while (!(await storedEvents(paid)).text.includes('restarted')) await Bun.sleep(20)
    const { text, events } = await storedEvents(paid)
    expect(text.split('fifty')).toHaveLength(3)
    expect(events.map(({ type }) => type).slice(-4)).toEqual(['started', 'answering', 'restarted', 'text'])
    complete.resolve()
    await paid.billing.waitForUsage(1)
    expect((await storedEvents(paid)).events.filter(({ type }) => type === 'text')).toEqual([
      { type: 'text', text: 'It is fifty ' },
      { type: 'text', text: 'metres.' },
    ])
  })

  test('starts again for a reader who waits for its first token, and who learns which provider answers', async () => {
    const gate = Promise.withResolvers<void>()
    const silent = events([': wait\n\n', gate.promise], breakOff)
    await using paid = await startBillingScenario(silent, { settings, other, patience: 20 })
    const { id } = await queueRun(paid.app)
    const reading = waitForRun(paid.app, id)
    while ((await retrieveResponse(paid.app, id)).provider !== 'acme') await Bun.sleep(20)
    gate.resolve()
    const response = await reading
    expect([response.status, response.provider, textOf(response)]).toEqual([
      'completed',
      'other',
      'It is four metres.',
    ])
    await expectCharged(paid, replyCost)
  })

  test.each<[string, (scenario: Scenario, id: string) => Promise<unknown>]>([
    ['has received it as a stream', ({ app }, id) => waitForOutput(app, id, 'fifty')],
    [
      'has retrieved it',
      async ({ app }, id) => {
        while (textOf(await retrieveResponse(app, id)) === '') await Bun.sleep(20)
      },
    ],
    [
      'has listed it',
      async ({ app }) => {
        const list = async () => await (await app.request('/v1/responses')).text()
        while (!(await list()).includes('fifty')) await Bun.sleep(20)
      },
    ],
  ])('fails with what was received if a client %s', async (_, see) => {
    const gate = Promise.withResolvers<void>()
    await using paid = await startBillingScenario(cut(gate.promise), { settings, other })
    const { id } = await queueRun(paid.app)
    await see(paid, id)
    gate.resolve()
    const response = await waitForRun(paid.app, id)
    expect([response.status, textOf(response), calls(paid)]).toEqual(['failed', 'It is fifty ', [1, 0]])
  })

  test('fails with what was received where there is no other route', async () => {
    await using paid = await startBillingScenario(cut(), { settings })
    const { id } = await queueRun(paid.app)
    await paid.billing.waitForUsage(1)
    const response = await retrieveResponse(paid.app, id)
    expect([response.status, textOf(response)]).toEqual(['failed', 'It is fifty '])
  })

  test('fails without any output, and costs nothing, if the other route cannot answer', async () => {
    const down = [chunks([{ error: { message: 'Down.', code: 500 } }])]
    await using paid = await startBillingScenario(cut(), { other: down })
    const { id } = await queueRun(paid.app)
    await expectCharged(paid, 0)
    const response = await retrieveResponse(paid.app, id)
    expect([response.status, textOf(response), calls(paid)]).toEqual(['failed', '', [1, 1]])
  })

  test('starts again once', async () => {
    const routes = ['acme', 'other', 'other'].map((provider, index) => ({
      provider,
      model: `river-${index}`,
    }))
    await using paid = await startBillingScenario(cut(), { model: { routes }, other: [cut(), streamReply()] })
    const { id } = await queueRun(paid.app)
    await paid.billing.waitForUsage(1)
    expect([(await retrieveResponse(paid.app, id)).status, calls(paid)]).toEqual(['failed', [1, 1]])
  })
})

test('a stream in the foreground does not start again: its client has its beginning', async () => {
  await using paid = await startBillingScenario(cut(), { settings, other })
  const reply = await paid.app.request('/v1/responses', {
    method: 'POST',
    body: { model: 'acme/river', input: 'Hi', stream: true },
  })
  expect(await reply.text()).toContain('event: response.failed')
  expect(calls(paid)).toEqual([1, 0])
  expect((await createResponse(paid.app)).provider).toBe('other')
})
