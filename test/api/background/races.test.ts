import { expect, test } from 'bun:test'
import { type BillingScenario, startBillingScenario } from '../../support/billing-scenario.ts'
import {
  cancelRun,
  deleteRun,
  gatedReply,
  queueRunRequest,
  waitForRun,
  waitForOutput,
} from '../../support/background.ts'
import { streamReply } from '../../support/chat-fixtures.ts'
import { replayResponse, responsesPath } from '../../support/responses.ts'
import { randomFrom } from '../../unit/providers/protocols/support/random.ts'

/** Before the last words, behind the end, or somewhere between the words and the moment when the end is stored. */
async function atMomentOf(
  round: number,
  open: () => void,
  finished: () => Promise<unknown>,
  random: () => number,
): Promise<void> {
  if (round % 10 === 0) return
  open()
  if (round % 10 === 1) await finished()
  else for (let turn = Math.floor(random() * 16); turn > 0; turn--) await new Promise(setImmediate)
}

type Found = { readonly status: string; readonly error?: unknown }

/** What is stored of a run agrees with what is told of it, with its usage and with its events. */
async function expectConsistent(paid: BillingScenario, id: string, request: string): Promise<string> {
  const { last, events } = await replayResponse(paid.app, id)
  expect(events.map(({ sequence_number }) => sequence_number)).toEqual([...events.keys()])
  const found = (await (await paid.app.request(`${responsesPath}/${id}`)).json()) as Found
  expect<unknown>(last).toEqual(found)
  const stored = await paid.billing.values('SELECT status, run FROM responses WHERE id = ?', id)
  expect(stored).toEqual([[found.status, null]])
  const row = await paid.billing.usageOf(request)
  expect([found.status, row?.error ?? null]).toEqual(
    found.status === 'completed' ? ['completed', null] : ['incomplete', 'cancelled'],
  )
  expect(1 + (row?.cost ?? 0) + ((await paid.billing.entriesOf(request)).charge ?? 0)).toBe(1)
  return found.status
}

test('a cancellation that races with the end of a run leaves one of both outcomes, and reports which', async () => {
  await using paid = await startBillingScenario(streamReply())
  const random = randomFrom('ends')
  const seen = { completed: 0, incomplete: 0 }
  for (let round = 0; round < 60; round++) {
    const gate = Promise.withResolvers<void>()
    paid.acme.respondWith(gatedReply(gate.promise))
    const { id, request } = await queueRunRequest(paid.app)
    await waitForOutput(paid.app, id, 'It is ')
    await atMomentOf(round, gate.resolve, () => waitForRun(paid.app, id), random)
    const replies = await Promise.all([cancelRun(paid.app, id), cancelRun(paid.app, id)])
    const status = await expectConsistent(paid, id, request)
    for (const reply of replies)
      expect([status, reply.status]).toEqual([status, status === 'completed' ? 400 : 200])
    seen[status as keyof typeof seen]++
  }
  expect(seen.completed + seen.incomplete).toBe(60)
  for (const count of Object.values(seen)) expect(count).toBeGreaterThan(0)
  expect((await paid.billing.account())[1]).toBe(0)
  await paid.billing.expectConsistent()
})

test('a cancellation that races with the start of a run stops it, whether it had started or not', async () => {
  await using paid = await startBillingScenario(streamReply(), {
    settings: { background: { concurrency: 1 } },
  })
  const random = randomFrom('begins')
  for (let round = 0; round < 40; round++) {
    const gate = Promise.withResolvers<void>()
    paid.acme.respondWith(gatedReply(gate.promise), gatedReply(new Promise(() => {})))
    const ahead = await queueRunRequest(paid.app)
    const { id, request } = await queueRunRequest(paid.app)
    await waitForOutput(paid.app, ahead.id, 'It is ')
    gate.resolve()
    for (let turn = Math.floor(random() * 16); turn > 0; turn--) await new Promise(setImmediate)
    expect((await cancelRun(paid.app, id)).status).toBe(200)
    expect(await expectConsistent(paid, id, request)).toBe('incomplete')
    expect(await expectConsistent(paid, ahead.id, ahead.request)).toBe('completed')
  }
  expect((await paid.billing.account())[1]).toBe(0)
  await paid.billing.expectConsistent()
  await paid.acme.idle()
})

test('a deletion that races with the end of a run deletes a finished run, or reports that it is not finished', async () => {
  await using paid = await startBillingScenario(streamReply())
  const random = randomFrom('deletes')
  const seen = { 200: 0, 400: 0 }
  for (let round = 0; round < 40; round++) {
    const gate = Promise.withResolvers<void>()
    paid.acme.respondWith(gatedReply(gate.promise))
    const { id, request } = await queueRunRequest(paid.app)
    await waitForOutput(paid.app, id, 'It is ')
    await atMomentOf(round, gate.resolve, () => waitForRun(paid.app, id), random)
    const [removal, cancel] = await Promise.all([deleteRun(paid.app, id), cancelRun(paid.app, id)])
    seen[removal.status as keyof typeof seen]++
    if (removal.status === 400) await expectConsistent(paid, id, request)
    else {
      expect((await paid.app.request(`${responsesPath}/${id}`)).status).toBe(404)
      expect([400, 404, 200]).toContain(cancel.status)
      // Processes that share a database hide what is deleted at once, and erase it after some seconds.
      const visible = 'SELECT 1 FROM responses WHERE id = ? AND deletion IS NULL'
      expect(await paid.billing.values(visible, id)).toEqual([])
    }
  }
  expect(seen[200] + seen[400]).toBe(40)
  for (const count of Object.values(seen)) expect(count).toBeGreaterThan(0)
  await paid.billing.expectConsistent()
  expect((await paid.billing.account())[1]).toBe(0)
})
