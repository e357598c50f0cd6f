import { describe, expect, test } from 'bun:test'
import type { ResponseObject } from '../../../src/api/responses/render/reply-schema.ts'
import { waitUntil } from '../../support/billing-database.ts'
import { startBillingScenario, replyCost } from '../../support/billing-scenario.ts'
import { assemble } from '../../unit/api/responses/support/step-order.ts'
import { readPieces } from '../../support/body-reader.ts'
import { chunks, completionOf, delta, framesOf, chatOutput, jsonReply } from '../../support/chat-fixtures.ts'
import { readError } from '../../support/chat-reply.ts'
import {
  readEvents,
  postResponse,
  createResponse,
  responsesPath,
  retrieveResponse,
  textOf,
} from '../../support/responses.ts'
import { startScenario } from '../../support/scenario.ts'
import { hang, jsonPieces, type Script } from '../../support/script.ts'

const start = 1_000_000_000
const lockTimeoutMs = 100

test('while the database is locked nothing is generated and nothing deleted', async () => {
  await using paid = await startBillingScenario(jsonReply(), { lockTimeoutMs })
  const { id } = await createResponse(paid.app)
  {
    await using _lock = await paid.billing.lock()
    const removal = paid.app.request(`${responsesPath}/${id}`, { method: 'DELETE' })
    for (const reply of [
      await postResponse(paid.app),
      await postResponse(paid.app, { stream: true }),
      await removal,
    ]) {
      expect(reply.headers.get('retry-after')).toBe('1')
      expect(await readError(reply)).toMatchObject({ status: 503, code: 'service_unavailable' })
    }
  }
  expect(paid.acme.requests).toHaveLength(1)
  const isReady = async () => (await paid.app.request('/readyz')).status === 200
  await waitUntil(isReady, 'the database is available')
  expect((await retrieveResponse(paid.app, id)).status).toBe('completed')
})

/** The usual answer, which waits before its end. */
function waiting(stream: boolean, gate: Promise<void>): Script {
  const frames = framesOf(chatOutput())
  return stream
    ? chunks([...frames.slice(0, 2), gate, ...frames.slice(2)])
    : jsonPieces([gate, JSON.stringify(completionOf(chatOutput()))])
}

describe('a response whose end cannot be stored for some seconds is not reported as completed, and does not exist afterwards', () => {
  const late = { api: 'responses', status: 503, error: 'response_not_stored', cost: replyCost }

  test('without a stream', async () => {
    const gate = Promise.withResolvers<void>()
    await using paid = await startBillingScenario(waiting(false, gate.promise), { lockTimeoutMs })
    const requesting = postResponse(paid.app)
    await paid.acme.request(0)
    await using locked = await paid.billing.lock()
    gate.resolve()
    const reply = await requesting
    expect(reply.headers.get('x-should-retry')).toBe('false')
    expect(reply.headers.get('retry-after')).toBeNull()
    expect(await readError(reply)).toMatchObject({
      status: 503,
      code: 'response_not_stored',
      message: 'The response was generated, but could not be stored. A retry would generate another one.',
    })
    await locked.release()
    expect(await paid.billing.waitForUsage(1)).toEqual([expect.objectContaining(late)])
    expect(await paid.billing.account()).toEqual([start - replyCost, 0])
    expect(await paid.billing.values('SELECT count(*) FROM responses')).toEqual([[0]])
    await paid.billing.expectConsistent()
  })

  test('with a stream', async () => {
    const gate = Promise.withResolvers<void>()
    await using paid = await startBillingScenario(waiting(true, gate.promise), { lockTimeoutMs })
    const reply = await postResponse(paid.app, { stream: true })
    await using locked = await paid.billing.lock()
    gate.resolve()
    const { types, events, last } = await readEvents(reply)
    expect(types.slice(-2)).toEqual(['error', 'response.failed'])
    expect(types).not.toContain('response.completed')
    expect(assemble(events).end).toEqual(last)
    expect(last).toMatchObject({ status: 'failed', error: { code: 'server_error' } })
    expect(await paid.app.requestLines.of(reply)).toMatchObject({ status: 503, error: 'response_not_stored' })
    await locked.release()
    expect(await paid.billing.waitForUsage(1)).toEqual([expect.objectContaining(late)])
    expect((await paid.app.request(`${responsesPath}/${last!.id}`)).status).toBe(404)
    const next = await postResponse(paid.app, { previous_response_id: last!.id })
    expect(await readError(next)).toMatchObject({ status: 400, code: 'previous_response_not_found' })
    await paid.billing.expectConsistent()
  })
})

test.each([
  ['without a stream', false],
  ['with a stream', true],
])(
  'a response %s is stored, and reported as completed, when the database is soon available again',
  async (_, stream) => {
    const gate = Promise.withResolvers<void>()
    await using paid = await startBillingScenario(waiting(stream, gate.promise), {
      databaseTimeoutMs: undefined,
    })
    const requesting = postResponse(paid.app, { stream })
    await paid.acme.request(0)
    if (stream) await requesting
    await using locked = await paid.billing.lock()
    gate.resolve()
    const isKnown = async () => (await paid.app.request('/readyz')).status === 503
    await waitUntil(isKnown, 'the gateway knows that the database is locked')
    await locked.release()
    const reply = await requesting
    const response = stream ? (await readEvents(reply)).last : ((await reply.json()) as ResponseObject)
    expect(response).toMatchObject({ status: 'completed' })
    expect(await retrieveResponse(paid.app, response!.id)).toEqual(response!)
    expect(await paid.billing.waitForUsage(1)).toEqual([
      expect.objectContaining({ status: 200, cost: replyCost }),
    ])
    expect(await paid.billing.account()).toEqual([start - replyCost, 0])
    expect(paid.acme.requests).toHaveLength(1)
    await paid.billing.expectConsistent()
  },
)

test('a stream that a shutdown aborts has failed, and is stored as failed', async () => {
  await using scenario = await startScenario(chunks([delta({ content: 'It is ' })], hang))
  const reader = readPieces(await postResponse(scenario.app, { stream: true }))
  const text = await reader.until('"delta":"It is "')
  expect(scenario.app.runtime.abortCalls()).toBe(1)
  const { types, last, events } = await readEvents(new Response(text + (await reader.rest()), eventHeaders))
  expect(types.slice(-2)).toEqual(['error', 'response.failed'])
  expect(events.at(-2)).toMatchObject({ code: 'interrupted', error: { type: 'server_error' } })
  expect(last).toMatchObject({ status: 'failed', output: [{ status: 'incomplete' }] })
  expect(textOf(last!)).toBe('It is ')
  expect(await retrieveResponse(scenario.app, last!.id)).toEqual(last!)
  expect(await scenario.acme.requests[0]?.aborted).toBe(true)
})

const eventHeaders = { headers: { 'content-type': 'text/event-stream; charset=utf-8' } }
