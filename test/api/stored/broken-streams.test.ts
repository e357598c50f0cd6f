import { describe, expect, test } from 'bun:test'
import { type BillingScenario, startBillingScenario } from '../../support/billing-scenario.ts'
import { readPieces } from '../../support/body-reader.ts'
import {
  chunks,
  completionOf,
  delta,
  framesOf,
  chatOutput,
  streamReply,
  jsonReply,
} from '../../support/chat-fixtures.ts'
import { readError, readStreamed } from '../../support/chat-reply.ts'
import { chatRequest } from '../../support/scenario.ts'
import { breakOff, hang, json, jsonPieces, type Script } from '../../support/script.ts'
import {
  listCompletionIds,
  listCompletions,
  storeCompletion,
  storedPath,
} from '../../support/stored-completions.ts'
import { testsUsePostgres } from '../../support/postgres/server.ts'

const kept = { ...chatRequest, store: true, metadata: { kept: 'yes' } }
const opening = [delta({ role: 'assistant', content: '' }), delta({ content: 'It is ' })]

/** Nothing is kept, in none of the tables, once so many calls are in the books. */
async function expectNothingKept(paid: BillingScenario, calls: number): Promise<void> {
  await paid.billing.waitForUsage(calls)
  expect(await listCompletionIds(paid.app)).toEqual([])
  expect(await listCompletionIds(paid.app, 'metadata[kept]=yes')).toEqual([])
  expect(await paid.billing.count('completions')).toBe(0)
  // PostgreSQL stores the terms in the row of the completion.
  if (!testsUsePostgres) expect(await paid.billing.count('completion_terms')).toBe(0)
}

describe('no completion is stored', () => {
  test('for a stream whose client disconnected', async () => {
    await using paid = await startBillingScenario(chunks(opening, hang))
    const reader = readPieces(await paid.app.chat({ ...kept, stream: true }))
    await reader.until('It is ')
    await reader.leave()
    expect(await paid.acme.requests[0]?.aborted).toBe(true)
    await expectNothingKept(paid, 1)
  })

  test('for a stream that breaks', async () => {
    const received = Promise.withResolvers<void>()
    await using paid = await startBillingScenario(chunks([...opening, received.promise], breakOff))
    const reply = await paid.app.chat({ ...kept, stream: true })
    const copy = readPieces(reply.clone())
    await copy.until('It is ')
    received.resolve()
    const { done, error } = await readStreamed(reply)
    expect([done, error?.code]).toEqual([false, 'upstream_unavailable'])
    await expectNothingKept(paid, 1)
  })

  test.each<[name: string, script: Script, status: number]>([
    ['a reply that breaks off', jsonPieces(['{"choices":[{'], breakOff), 502],
    ['a call that the provider rejects', json({ error: { message: 'No.' } }, { status: 400 }), 400],
  ])('for %s', async (_, script, status) => {
    await using paid = await startBillingScenario(script)
    expect((await paid.app.chat(kept)).status).toBe(status)
    await expectNothingKept(paid, 1)
  })

  test('for an invalid request', async () => {
    await using paid = await startBillingScenario(jsonReply())
    expect((await paid.app.chat({ ...kept, metadata: 'x' })).status).toBe(400)
    await expectNothingKept(paid, 1)
  })
})

describe.each([[false], [true]])('with stream %p', (stream) => {
  /** The usual answer, which waits before its end. */
  function waiting(gate: Promise<void>): Script {
    const frames = framesOf(chatOutput())
    return stream
      ? chunks([...frames.slice(0, 3), gate, ...frames.slice(3)])
      : jsonPieces([gate, JSON.stringify(completionOf(chatOutput()))])
  }

  test('a completion that cannot be stored is an error, and is not stored later', async () => {
    const gate = Promise.withResolvers<void>()
    await using paid = await startBillingScenario(waiting(gate.promise), { lockTimeoutMs: 100 })
    const requesting = paid.app.chat({ ...kept, stream })
    await paid.acme.request(0)
    if (stream) await requesting
    const locked = await paid.billing.lock()
    gate.resolve()
    const reply = await requesting
    if (stream) {
      const { done, error } = await readStreamed(reply)
      expect([done, error?.code]).toEqual([false, 'response_not_stored'])
    } else expect(await readError(reply)).toMatchObject({ status: 503, code: 'response_not_stored' })
    await locked.release()
    await expectNothingKept(paid, 1)
  })

  test('a completion sends its end once it is stored, and not before', async () => {
    const gate = Promise.withResolvers<void>()
    await using paid = await startBillingScenario(waiting(gate.promise))
    const requesting = paid.app.chat({ ...kept, stream })
    await paid.acme.request(0)
    if (stream) await readPieces((await requesting).clone()).until('It is ')
    expect(await listCompletionIds(paid.app)).toEqual([])
    gate.resolve()
    await readPieces(await requesting).until(stream ? '[DONE]' : 'usage')
    const rows = await paid.billing.values('SELECT metadata FROM completions')
    expect(rows).toEqual([['{"kept":"yes"}']])
  })
})

test('reading stored completions adds no usage row, also where it is rejected', async () => {
  await using paid = await startBillingScenario([jsonReply(), streamReply()])
  const { id } = await storeCompletion(paid.app)
  await listCompletions(paid.app, 'metadata[a]=b')
  expect((await paid.app.request(`${storedPath}?limit=0`)).status).toBe(400)
  expect((await paid.app.request(`${storedPath}/${id}`, { body: {} })).status).toBe(400)
  expect((await paid.app.request(`${storedPath}/x`)).status).toBe(404)
  expect(await paid.billing.usage()).toHaveLength(1)
})
