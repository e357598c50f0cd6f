import { describe, expect, test } from 'bun:test'
import {
  type BillingScenario,
  replyCost,
  startBillingScenario,
  waitForReservations,
} from '../../support/billing-scenario.ts'
import { chunks, framesOf, chatOutput, jsonReply, completionOf } from '../../support/chat-fixtures.ts'
import { readCompletion, readError, readStreamed } from '../../support/chat-reply.ts'
import { waitUntil } from '../../support/billing-database.ts'
import { chatRequest } from '../../support/scenario.ts'
import { jsonPieces, type Script } from '../../support/script.ts'

const start = 1_000_000_000
const lockTimeoutMs = 100

test('while the database is locked a paid call is rejected before the provider is called, and reserves nothing', async () => {
  await using paid = await startBillingScenario(jsonReply(), { lockTimeoutMs })
  {
    await using _lock = await paid.billing.lock()
    const reply = await paid.app.chat(chatRequest)
    expect(reply.headers.get('retry-after')).toBe('1')
    expect(await readError(reply)).toMatchObject({ status: 503, code: 'service_unavailable' })
  }
  expect(paid.acme.requests).toEqual([])
  await waitForReservations(paid)
  const [row] = await paid.billing.waitForUsage(2)
  expect(row).toMatchObject({ status: 503, error: 'service_unavailable', cost: 0, prompt_tokens: 0 })
  expect(await paid.billing.account()).toEqual([start - replyCost, 0])
  expect(paid.acme.requests).toHaveLength(1)
  await paid.billing.expectConsistent()
})

/** The usual answer, which waits before its end. */
function waiting(stream: boolean, gate: Promise<void>): Script {
  const frames = framesOf(chatOutput())
  return stream
    ? chunks([...frames.slice(0, 2), gate, ...frames.slice(2)])
    : jsonPieces([gate, JSON.stringify(completionOf(chatOutput()))])
}

describe.each([
  ['not streamed', false],
  ['streamed', true],
])('a reply (%s) whose settlement cannot be written', (_, stream) => {
  /** Sends a request, locks the database once it has reached the provider, and reads the reply. */
  async function completeLocked(paid: BillingScenario, gate: { resolve(): void }) {
    const requesting = paid.app.chat({ ...chatRequest, stream })
    await paid.acme.request(0)
    if (stream) await requesting
    const locked = await paid.billing.lock()
    gate.resolve()
    const reply = await requesting
    expect(reply.status).toBe(200)
    if (!stream) {
      expect((await readCompletion(reply)).choices[0]?.message.content).toBe('It is four metres.')
      expect(reply.headers.get('x-weir-cost')).toBe('0.000062000')
      return locked
    }
    const { done, error } = await readStreamed(reply)
    expect([done, error]).toEqual([true, undefined])
    return locked
  }

  const late = { status: 200, error: null, cost: replyCost, provider: 'acme' }

  test('is sent, and is charged once when the database is writable', async () => {
    const gate = Promise.withResolvers<void>()
    await using paid = await startBillingScenario(waiting(stream, gate.promise), { lockTimeoutMs })
    const locked = await completeLocked(paid, gate)
    expect(await paid.billing.usage()).toEqual([])
    expect(await paid.billing.openReservations()).toBe(1)
    await locked.release()
    const rows = await paid.billing.waitForUsage(1)
    expect(rows).toEqual([expect.objectContaining(late)])
    expect(await paid.billing.account()).toEqual([start - replyCost, 0])
    expect(await paid.billing.entries()).toEqual([
      ['credit', start],
      ['charge', -replyCost],
    ])
    expect(paid.acme.requests).toHaveLength(1)
    await paid.billing.expectConsistent()
  })

  test('is charged, at the latest, when the gateway shuts down', async () => {
    const gate = Promise.withResolvers<void>()
    await using paid = await startBillingScenario(waiting(stream, gate.promise), { lockTimeoutMs })
    const locked = await completeLocked(paid, gate)
    await locked.release()
    await paid.app.stop()
    expect(await paid.billing.usage()).toEqual([expect.objectContaining(late)])
    expect(await paid.billing.account()).toEqual([start - replyCost, 0])
    await paid.billing.expectConsistent()
  })
})

test('a reply of an unmetered organization that ends while the database is locked is sent and recorded', async () => {
  const gate = Promise.withResolvers<void>()
  await using paid = await startBillingScenario(waiting(false, gate.promise), {
    databaseTimeoutMs: undefined,
  })
  await paid.billing.fund('free', '0', 'unmetered')
  const headers = { authorization: `Bearer ${await paid.billing.keyOf('free')}` }
  const requesting = paid.app.chat(chatRequest, { headers })
  await paid.acme.request(0)
  const locked = await paid.billing.lock()
  const isKnown = async () => (await paid.app.request('/readyz')).status === 503
  await waitUntil(isKnown, 'the gateway knows that the database is locked')
  gate.resolve()
  expect((await requesting).status).toBe(200)
  await locked.release()
  const [row] = await paid.billing.waitForUsage(1)
  expect(row).toMatchObject({ status: 200, error: null, cost: replyCost })
})
