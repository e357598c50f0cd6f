import { describe, expect, test } from 'bun:test'
import type { ResponseObject } from '../../../src/api/responses/render/reply-schema.ts'
import { gatedReply, queueRun, waitForOutput, waitForRun } from '../../support/background.ts'
import { type BillingScenario, startBillingScenario } from '../../support/billing-scenario.ts'
import { jsonReply } from '../../support/chat-fixtures.ts'
import { createResponse, responsesPath, retrieveResponse } from '../../support/responses.ts'
import type { ListBody } from '../../support/stored-completions.ts'
import { startOnce } from '../../support/start-once.ts'

const other = { slug: 'acme/lake', routes: [{ provider: 'acme', model: 'lake-1' }] }

async function list(paid: BillingScenario, query = '', headers = {}): Promise<ListBody<ResponseObject>> {
  const reply = await paid.app.request(`${responsesPath}?${query}`, { headers })
  if (reply.status !== 200) throw new Error(`No list: ${await reply.text()}`)
  return (await reply.json()) as ListBody<ResponseObject>
}

async function idsOf(paid: BillingScenario, query = '', headers = {}): Promise<string[]> {
  return (await list(paid, query, headers)).data.map(({ id }) => id)
}

/** A gateway with five responses, oldest first. */
async function startStored() {
  const paid = await startBillingScenario(jsonReply(), { models: [other] })
  await paid.billing.fund('default', '0', 'unmetered')
  const stored: ResponseObject[] = []
  for (const [model, level] of [
    ['river', 1],
    ['lake', 'high'],
    ['river', 'high'],
    ['river', { at: 'x' }],
    ['lake', 1],
  ])
    stored.push(await createResponse(paid.app, { model: `acme/${model}`, metadata: { level, same: 'yes' } }))
  const ids = stored.map(({ id }) => id)
  return { paid, stored, ids, [Symbol.asyncDispose]: paid[Symbol.asyncDispose] }
}

describe('the list of stored responses', () => {
  const unchanged = startOnce(startStored)

  test('has each response as it is retrieved, newest first', async () => {
    const { paid, ids } = await unchanged()
    const { data, ...envelope } = await list(paid)
    expect(envelope).toEqual({ object: 'list', first_id: ids[4]!, last_id: ids[0]!, has_more: false })
    expect(data.map(({ id }) => id)).toEqual(ids.toReversed())
    for (const response of data) expect(response).toEqual(await retrieveResponse(paid.app, response.id))
  })

  test('is paged in both orders, also after a response that was deleted', async () => {
    await using started = await startStored()
    const { paid, ids } = started
    expect(await idsOf(paid, 'order=asc&limit=2')).toEqual(ids.slice(0, 2))
    expect(await list(paid, 'limit=2')).toMatchObject({ has_more: true, last_id: ids[3] })
    await paid.app.request(`${responsesPath}/${ids[1]}`, { method: 'DELETE' })
    expect(await idsOf(paid, `order=asc&after=${ids[1]}`)).toEqual(ids.slice(2))
    expect(await idsOf(paid, `limit=1&after=${ids[2]}`)).toEqual([ids[0]!])
    expect(await list(paid, `order=asc&limit=3&after=${ids[1]}`)).toMatchObject({ has_more: false })
  })

  test.each([
    ['model=acme/lake', [4, 1]],
    ['model=lake', [4, 1]],
    ['model=acme/none', []],
    ['metadata[level]=high', [2, 1]],
    ['metadata[level]=1', [4, 0]],
    ['metadata[level]={"at":"x"}', [3]],
    ['metadata[same]=yes&metadata[level]=high&model=acme/river', [2]],
    ['metadata[constructor]=yes', []],
    ['status=completed&limit=100', [4, 3, 2, 1, 0]],
    ['status=failed', []],
    ['status=completed&order=asc&limit=1&model=acme/lake', [1]],
  ])('is filtered by %s', async (query, places) => {
    const { paid, ids } = await unchanged()
    expect(await idsOf(paid, query)).toEqual(places.map((place) => ids[place]!))
  })

  test('finds rare responses among many', async () => {
    await using started = await startStored()
    const { paid, ids } = started
    await paid.billing.rows(
      `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000)
      INSERT INTO responses (id, organization_id, status, head, log, input)
      SELECT 'resp_ff000000000000000000000000' || (100000 + i), organization_id, 'incomplete',
        replace(head, '"acme/river"', '"acme/sea"'), log, input
      FROM n, responses WHERE id = ?`,
      ids[0]!,
    )
    expect(await idsOf(paid, 'model=acme/lake&status=completed')).toEqual([ids[4]!, ids[1]!])
    expect(await list(paid, 'model=acme/sea&limit=1')).toMatchObject({ has_more: true })
    const page = await list(paid, 'status=completed&limit=4')
    expect([page.data.length, page.has_more]).toEqual([4, true])
  })

  test('does not have the responses of other organizations', async () => {
    await using started = await startStored()
    const { paid, ids } = started
    await paid.billing.fund('globex', '1')
    const globex = { authorization: `Bearer ${await paid.billing.keyOf('globex')}` }
    const own = (await createResponse(paid.app, {}, { headers: globex })).id
    expect(await idsOf(paid, '', globex)).toEqual([own])
    expect(await idsOf(paid, `order=asc&after=${ids[0]}`, globex)).toEqual([own])
    expect(await idsOf(paid)).toEqual(ids.toReversed())
  })

  test('has a background run with its output so far, and its status changes', async () => {
    const gate = Promise.withResolvers<void>()
    await using paid = await startBillingScenario(gatedReply(gate.promise))
    const { id } = await queueRun(paid.app)
    await waitForOutput(paid.app, id, 'It is ')
    const [running] = (await list(paid, 'status=in_progress')).data
    expect(running).toMatchObject({ id, status: 'in_progress' })
    expect(JSON.stringify(running?.output)).toContain('It is ')
    gate.resolve()
    await waitForRun(paid.app, id)
    expect([await idsOf(paid, 'status=in_progress'), await idsOf(paid, 'status=completed')]).toEqual([
      [],
      [id],
    ])
  })

  test('omits damaged responses, also where a whole page is damaged', async () => {
    await using started = await startStored()
    const { paid, ids } = started
    const damage = (column: string, place: number) =>
      paid.billing.rows(`UPDATE responses SET ${column} = '{"swordfish' WHERE id = ?`, ids[place]!)
    await damage('log', 4)
    expect((await idsOf(paid, 'limit=1'))[0]).toBe(ids[3])
    await damage('head', 3)
    for (const query of ['', 'limit=1', 'limit=1&status=completed'])
      expect((await idsOf(paid, query))[0]).toBe(ids[2])
    expect(await idsOf(paid, 'metadata[same]=yes')).toEqual([ids[2]!, ids[1]!, ids[0]!])
  })

  test.each([
    ['after=resp_1', 'after'],
    ['after=chatcmpl-01a2043c1a9076c193d47efd47b79320', 'after'],
    ['limit=101', 'limit'],
    ['limit=0', 'limit'],
    ['order=up', 'order'],
    ['status=done', 'status'],
    ['metadata[x', 'metadata'],
  ])('rejects %s with 400', async (query, param) => {
    const { paid } = await unchanged()
    const reply = await paid.app.request(`${responsesPath}?${query}`)
    expect([reply.status, await reply.json()]).toEqual([400, { error: expect.objectContaining({ param }) }])
  })
})
