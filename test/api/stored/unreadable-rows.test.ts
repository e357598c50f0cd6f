import { describe, expect, test } from 'bun:test'
import { type BillingScenario, startBillingScenario } from '../../support/billing-scenario.ts'
import { gatedReply, queueRunRequest, queueRun, waitForRun, waitForOutput } from '../../support/background.ts'
import { streamReply, jsonReply } from '../../support/chat-fixtures.ts'
import { readError } from '../../support/chat-reply.ts'
import { replayResponse, createResponse, responsesPath, retrieveResponse } from '../../support/responses.ts'
import { chatRequest, startScenario } from '../../support/scenario.ts'
import { storeCompletion } from '../../support/stored-completions.ts'

const secret = 'swordfish'
const damaged = `{"${secret}`

const one = { settings: { background: { concurrency: 1 } } }

/** Runs of a gateway that was ended in the middle of the first one; the others wait. */
async function leftRuns() {
  const paid = await startBillingScenario(gatedReply(new Promise(() => {})), one)
  const running = await queueRunRequest(paid.app, { input: secret })
  await waitForOutput(paid.app, running.id, 'It is ')
  const queued = [await queueRunRequest(paid.app), await queueRunRequest(paid.app)] as const
  const runs = [running, ...queued] as const
  const { rows, values } = paid.billing
  // As a kill would leave them: what is stored when the process ends is put back.
  const tables = ['organizations', 'reservations', 'responses', 'response_log', 'runs', 'usage', 'ledger']
  for (const table of tables) await rows(`CREATE TABLE kept_${table} AS SELECT * FROM ${table}`)
  await paid.app.stop()
  for (const table of tables.toReversed()) await rows(`DELETE FROM ${table}`)
  for (const table of tables) await rows(`INSERT INTO ${table} SELECT * FROM kept_${table}`)
  const damage = (column: string, value: string | null, id: string) =>
    rows(`UPDATE responses SET ${column} = ? WHERE id = ?`, value, id)
  const costs = new Map(
    (await values('SELECT request_id, prompt_cost FROM reservations')) as [string, number][],
  )
  /** In nano-dollars: what a request costs of which nothing is known but that it was sent. */
  const promptCost = (request: string) => costs.get(request) ?? Number.NaN
  return { paid, runs, damage, promptCost }
}

function startAgain({ database }: BillingScenario) {
  return startScenario(streamReply(), {
    database,
    model: { pricing: { input: 1, output: 10 }, max_output_tokens: 100 },
  })
}

const damages = [
  ['head', damaged],
  ['head', 'null'],
  ['head', '{}'],
  ['run', damaged],
  ['run', '{}'],
  ['run', '{"request":{"model":"acme/river"},"facts":{"id":1},"promptTokens":1,"images":0}'],
  ['log', damaged],
  ['log', `{"type":"${secret}"}`],
  ['log', '7'],
] as const

describe.each(damages)('a run whose %s is stored as %s', (column, value) => {
  test('fails at the next start, and the others continue', async () => {
    const { paid, runs, damage, promptCost } = await leftRuns()
    await using _ = paid
    const [running, broken, waiting] = runs
    await damage(column, value, running.id)
    await damage(column, value, broken.id)
    await using again = await startAgain(paid)

    expect((await waitForRun(again.app, waiting.id)).status).toBe('completed')
    const rows = await paid.billing.values('SELECT id, status, run FROM responses ORDER BY id')
    expect(rows).toEqual([
      [running.id, 'failed', null],
      [broken.id, 'failed', null],
      [waiting.id, 'completed', null],
    ])
    const usage = await paid.billing.waitForUsage(3)
    expect(usage.find(({ id }) => id === running.request)).toMatchObject({
      status: 0,
      error: 'interrupted',
      cost: promptCost(running.request),
    })
    const cost = usage.find(({ id }) => id === broken.request)?.cost ?? 0
    expect(cost).toBe(column === 'run' ? promptCost(broken.request) : 0)
    await paid.billing.expectConsistent()

    for (const { id } of [running, broken]) {
      const reply = await again.app.request(`${responsesPath}/${id}`)
      if (column === 'head') expect(await readError(reply)).toMatchObject({ status: 500 })
      else expect(await reply.json()).toMatchObject({ status: 'failed', error: { code: 'server_error' } })
      expect(again.app.lines.filter((line) => line.includes(id)).join()).toContain('cannot be read')
    }
    expect(again.app.lines.join()).not.toContain(secret)
  }, 120_000)
})

test('a reservation that cannot be read is settled at the next start, like the others', async () => {
  const { paid, runs, promptCost } = await leftRuns()
  await using _ = paid
  await paid.billing.rows('DELETE FROM responses')
  for (const [index, request] of [damaged, '{}', '{"id":"req_other"}'].entries())
    await paid.billing.rows(
      'UPDATE reservations SET request = ? WHERE request_id = ?',
      request,
      runs[index]?.request ?? '',
    )
  await using again = await startAgain(paid)
  const usage = await paid.billing.waitForUsage(3)
  expect(usage.map(({ id, status, cost }) => [id, status, cost])).toEqual(
    runs.map(({ request }) => [request, 0, promptCost(request)]),
  )
  await paid.billing.expectConsistent()
  expect((await again.app.chat(chatRequest)).status).toBe(200)
})

test.each([
  ['head', damaged],
  ['log', damaged],
  ['input', damaged],
])(
  'a finished response whose %s is damaged is a 500 by itself, wherever it is read',
  async (column, value) => {
    await using paid = await startBillingScenario([jsonReply(), jsonReply(), jsonReply()])
    const { app, billing } = paid
    const [broken, sound] = [
      await createResponse(app, { input: secret }),
      await createResponse(app, { input: secret }),
    ]
    await billing.rows(`UPDATE responses SET ${column} = ? WHERE id = ?`, value, broken.id)
    const one = `${responsesPath}/${broken.id}`
    const body = { model: 'acme/river', input: 'And now?', previous_response_id: broken.id }
    const replies = {
      head: [one, `${one}?stream=true`],
      log: [one, `${one}?stream=true`],
      input: [`${one}/input_items`],
    }
    for (const path of replies[column as 'head'])
      expect(await readError(await app.request(path))).toMatchObject({ status: 500, code: 'internal_error' })
    expect((await app.request(responsesPath, { body })).status).toBe(500)
    expect(
      app.lines.filter((line) => line.includes(`response ${broken.id} cannot be read`)).length,
    ).toBeGreaterThan(0)
    expect(app.lines.join()).not.toContain(secret)

    expect((await retrieveResponse(app, sound.id)).status).toBe('completed')
    expect((await replayResponse(app, sound.id)).types.at(-1)).toBe('response.completed')
    expect(
      (await app.request(responsesPath, { body: { ...body, previous_response_id: sound.id } })).status,
    ).toBe(200)
    expect((await app.request(one, { method: 'DELETE' })).status).toBe(200)
  },
)

test.each(['completion', 'metadata', 'messages'])(
  'a stored completion whose %s is damaged is a 500 by itself, and a list omits it',
  async (column) => {
    await using paid = await startBillingScenario([jsonReply(), jsonReply()])
    const { app, billing } = paid
    const kept = { ...chatRequest, metadata: { lake: 'north' } }
    const [{ id: broken }, { id: sound }] = [
      await storeCompletion(app, kept),
      await storeCompletion(app, kept),
    ]
    await billing.rows(`UPDATE completions SET ${column} = ? WHERE id = ?`, damaged, broken)
    const path = `/v1/chat/completions/${broken}`
    const reply = await app.request(column === 'messages' ? `${path}/messages` : path)
    expect(await readError(reply)).toMatchObject({ status: 500, code: 'internal_error' })
    expect(app.lines.join()).toContain(`completion ${broken} cannot be read`)
    expect(app.lines.join()).not.toContain(secret)
    expect((await app.request(`/v1/chat/completions/${sound}`)).status).toBe(200)
    for (const filter of ['', '&metadata[lake]=north', '&model=acme/river']) {
      const list = await (await app.request(`/v1/chat/completions?limit=10${filter}`)).json()
      const ids = (list as { data: { id: string }[] }).data.map(({ id }) => id)
      expect(ids).toEqual(column === 'messages' ? [broken, sound] : [sound])
    }
    expect((await app.request(path, { method: 'DELETE' })).status).toBe(200)
  },
)

test('a run whose request is damaged while it is queued fails when its turn comes', async () => {
  const gate = Promise.withResolvers<void>()
  await using paid = await startBillingScenario([gatedReply(gate.promise), streamReply()], one)
  const { app, billing } = paid
  const ahead = await queueRun(app)
  const [broken, sound] = [await queueRun(app), await queueRun(app)]
  await billing.rows('UPDATE responses SET run = ? WHERE id = ?', damaged, broken.id)
  gate.resolve()
  expect((await waitForRun(app, ahead.id)).status).toBe('completed')
  expect(await waitForRun(app, broken.id)).toMatchObject({
    status: 'failed',
    error: { code: 'server_error' },
  })
  expect((await waitForRun(app, sound.id)).status).toBe('completed')
  expect(app.lines.join()).not.toContain(secret)
  await billing.waitForUsage(3)
  await billing.expectConsistent()
})
