import { describe, expect, test } from 'bun:test'
import { waitUntil } from '../../support/billing-database.ts'
import { type BillingScenario, startBillingScenario } from '../../support/billing-scenario.ts'
import type { RequestOptions } from '../../support/app.ts'
import { cancelRun, gatedReply, queueRunRequest, queueRun, waitForRun } from '../../support/background.ts'
import { streamReply } from '../../support/chat-fixtures.ts'
import { readError } from '../../support/chat-reply.ts'
import { replayResponse, postResponse } from '../../support/responses.ts'

/** The header of a new key of an organization, which is made where it is missing, and the id of the key. */
async function keyOf(
  { billing }: BillingScenario,
  name: string,
): Promise<RequestOptions & { readonly id: string }> {
  await billing.fund(name, '0', 'unmetered')
  const key = await billing.keyOf(name)
  return { headers: { authorization: `Bearer ${key}` }, id: key.split('-')[2] ?? '' }
}

/** What the upstream requests so far have asked, in their order. */
function questions({ acme }: BillingScenario): unknown[] {
  return acme.requests.map(
    ({ body }) => (body as { messages: { content: unknown }[] }).messages.at(-1)?.content,
  )
}

test('hundreds of queued runs of one organization do not delay the run of another', async () => {
  const gate = Promise.withResolvers<void>()
  const settings = { background: { concurrency: 1 } }
  await using paid = await startBillingScenario([gatedReply(gate.promise), streamReply()], { settings })
  const [busy, other] = [await keyOf(paid, 'busy'), await keyOf(paid, 'other')]
  await queueRun(paid.app, { input: 'busy first' }, busy)
  const ids = Array.from({ length: 500 }, () => queueRun(paid.app, { input: 'busy' }, busy))
  const [oldest = ''] = (await Promise.all(ids)).map(({ id }) => id)
  const { id } = await queueRun(paid.app, { input: 'other' }, other)
  gate.resolve()
  expect((await waitForRun(paid.app, id, other)).status).toBe('completed')
  expect(questions(paid).slice(0, 3)).toEqual(['busy first', 'busy', 'other'])
  expect((await waitForRun(paid.app, oldest, busy)).status).toBe('completed')
}, 120_000)

test('organizations take turns, and the runs of each start in the order of their creation', async () => {
  const gate = Promise.withResolvers<void>()
  const settings = { background: { concurrency: 1 } }
  await using paid = await startBillingScenario([gatedReply(gate.promise), streamReply()], { settings })
  const keys = { a: await keyOf(paid, 'a'), b: await keyOf(paid, 'b'), c: await keyOf(paid, 'c') }
  const queued = ['a1', 'a2', 'a3', 'a4', 'b1', 'b2', 'c1', 'c2', 'c3']
  const runs: string[] = []
  for (const input of queued) runs.push((await queueRun(paid.app, { input }, keys[input[0] as 'a'])).id)
  gate.resolve()
  for (const [index, id] of runs.entries()) await waitForRun(paid.app, id, keys[queued[index]?.[0] as 'a'])
  expect(questions(paid)).toEqual(['a1', 'a2', 'b1', 'c1', 'a3', 'b2', 'c2', 'a4', 'c3'])
})

test('an organization cannot have more queued runs than the configured limit', async () => {
  const gate = Promise.withResolvers<void>()
  const settings = { background: { concurrency: 1, max_queued: 3 } }
  await using paid = await startBillingScenario([gatedReply(gate.promise), streamReply()], { settings })
  const [busy, other] = [await keyOf(paid, 'busy'), await keyOf(paid, 'other')]
  await queueRun(paid.app, {}, busy)
  await paid.acme.request(0)
  const replies = await Promise.all(
    Array.from({ length: 10 }, () => postResponse(paid.app, { background: true }, busy)),
  )
  const accepted = replies.filter(({ status }) => status === 200)
  const refused = replies.filter(({ status }) => status === 429)
  expect([accepted.length, refused.length]).toEqual([3, 7])
  expect(refused[0]?.headers.get('retry-after')).toBe('1')
  expect(await readError(refused[0]!)).toMatchObject({
    code: 'rate_limit_exceeded',
    message:
      'Rate limit exceeded: too many queued background runs for the organization (limit: 3). Try again when some of them have started.',
  })
  const passing = await queueRun(paid.app, {}, other)

  const { id } = (await accepted[0]!.json()) as { id: string }
  expect((await cancelRun(paid.app, id, busy)).status).toBe(200)
  const next = await queueRun(paid.app, {}, busy)
  expect((await postResponse(paid.app, { background: true }, busy)).status).toBe(429)
  gate.resolve()
  expect((await waitForRun(paid.app, next.id, busy)).status).toBe('completed')
  expect((await waitForRun(paid.app, passing.id, other)).status).toBe('completed')
  expect((await postResponse(paid.app, { background: true }, busy)).status).toBe(200)
})

describe('a queued run fails when its turn comes, and the other runs continue, where its key', () => {
  test.each([
    ['was revoked', 'UPDATE api_keys SET revoked_at = 1 WHERE public_id = ?'],
    ['has expired', 'UPDATE api_keys SET expires_at = 1 WHERE public_id = ?'],
  ])('%s', async (why, change) => {
    const gate = Promise.withResolvers<void>()
    const settings = { background: { concurrency: 1 } }
    await using paid = await startBillingScenario([gatedReply(gate.promise), streamReply()], { settings })
    const [lost, kept] = [await keyOf(paid, 'acme'), await keyOf(paid, 'acme')]
    const ahead = await queueRun(paid.app, {}, lost)
    await paid.acme.request(0)
    const runs = await Promise.all(Array.from({ length: 50 }, () => queueRunRequest(paid.app, {}, lost)))
    const sound = await queueRun(paid.app, {}, kept)
    await paid.billing.rows(change, lost.id)
    const noticed = async () => (await paid.app.request('/v1/models', lost)).status === 401
    await waitUntil(noticed, 'the end of the key')
    gate.resolve()

    expect((await waitForRun(paid.app, ahead.id, kept)).status).toBe('completed')
    expect((await waitForRun(paid.app, sound.id, kept)).status).toBe('completed')
    // Their ends are stored beside the next run, which may be quicker.
    for (const { id } of runs) {
      expect(await waitForRun(paid.app, id, kept)).toMatchObject({
        status: 'failed',
        error: {
          code: 'invalid_api_key',
          message: `The API key ${lost.id} ${why} while this background run was queued.`,
        },
      })
    }
    const { types, text } = await replayResponse(paid.app, runs[0]!.id, '', kept)
    expect(types).toEqual(['response.created', 'response.queued', 'error', 'response.failed'])
    expect(text).toContain('"type":"invalid_request_error"')
    expect(paid.acme.requests.length).toBe(2)
    await paid.billing.waitForUsage(52)
    for (const { request } of runs)
      expect(await paid.billing.usageOf(request)).toMatchObject({ status: 401, error: 'invalid_api_key' })
    await paid.billing.expectConsistent()
  })
})
