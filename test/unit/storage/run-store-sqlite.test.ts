import { expect, test } from 'bun:test'
import { createLedger } from '../../../src/storage/sqlite/ledger.ts'
import { createRunStore } from '../../../src/storage/sqlite/run-store.ts'
import { finished, responseStorage, unfinished } from './support/response-fixture.ts'
import { recordPlans } from '../../support/query-plans.ts'
import { requestOf } from './support/ledger-fixture.ts'

const end = { status: 'completed', log: '["all"]\n' } as const

test('a process claims the unfinished runs that it finds at its start once, in their order, and none of its own', async () => {
  const { database, writer, acme, other, insert, replied } = await leftRuns()
  const [first, second] = [unfinished(acme, 'queued'), unfinished(other, 'in_progress')]
  await insert(first, second)
  await replied()
  // As a server before 0.3.0 has left it.
  database.sqlite.run(`DELETE FROM runs WHERE response_id = '${second.id}'`)
  const runs = createRunStore(database, writer)
  expect(await runs.claimAbandoned('next', 1)).toEqual([
    { organization: acme, id: first.id, status: 'queued' },
  ])
  await insert(unfinished(acme, 'queued'))
  expect(await runs.claimAbandoned('next', 10)).toEqual([
    { organization: other, id: second.id, status: 'in_progress' },
  ])
  expect(await runs.claimAbandoned('next', 10)).toEqual([])
  expect(await runs.owned('next')).toHaveLength(3)
  expect(await runs.claimQueued('next', 10, [])).toEqual([])
})

test('a run that is to be cancelled is not started, and one that has started is not withdrawn', async () => {
  const { runs, acme, insert, finish } = await leftRuns()
  const [dropped, running] = [unfinished(acme, 'queued'), unfinished(acme, 'queued')]
  await insert(dropped, running)
  const [run, other] = [dropped, running].map(({ id }) => ({ organization: acme, id }))
  expect(await runs.withdraw('own', { ...run!, organization: 'org_unknown' })).toBe(false)
  expect([await runs.withdraw('own', run!), await runs.start('own', run!)]).toEqual([true, false])
  expect(await runs.read('own', [run!])).toMatchObject([{ status: 'queued', cancelRequested: true }])
  expect([await runs.start('own', other!), await runs.withdraw('own', other!)]).toEqual([true, false])
  await runs.requestCancel(other!)
  expect(await runs.owned('own', 'cancel-requested')).toHaveLength(2)
  expect(await runs.countQueued(acme)).toBe(1)
  for (const { id } of [dropped, running]) await finish(acme, id, end)
  expect(await runs.owned('own')).toEqual([])
})

test('progress has the pieces of a run from a position on, until it has ended', async () => {
  const { runs, acme, other, insert, finish } = await leftRuns()
  const response = unfinished(acme, 'queued')
  await insert(response)
  const run = { organization: acme, id: response.id }
  const piece = (position: number) => ({ ...run, position, entries: `[${position}]\n` })
  expect(await runs.append('own', [piece(0)])).toEqual([])
  await runs.start('own', run)
  expect(await runs.append('own', [piece(0), piece(1), { ...piece(2), organization: other }])).toEqual([
    run,
    run,
  ])
  // Whose answer was lost.
  expect(await runs.append('own', [piece(1)])).toEqual([run])
  const state = { ...run, status: 'in_progress' }
  expect(await runs.progress([{ ...run, position: 1 }])).toEqual([{ ...state, pieces: ['[1]\n'] } as never])
  expect(await runs.progress([{ ...run, organization: other, position: 0 }])).toEqual([])
  await finish(acme, response.id, end)
  expect(await runs.progress([{ ...run, position: 0 }])).toEqual([
    { ...run, status: 'completed', pieces: [] },
  ])
})

test('the reservation of an unfinished run is not settled with those that a process has left open', async () => {
  const { database, writer, runs, organizations, acme, insert, finish } = await leftRuns()
  await organizations.change('acme', { billing: 'prepaid' })
  await organizations.credit('acme', 100n)
  const earlier = createLedger(database, writer)
  const [request, ofRun] = [requestOf(acme), requestOf(acme)]
  for (const reserved of [request, ofRun])
    await earlier.reserve({ request: reserved, amount: 10n, promptCost: 1n, promptTokens: 7 })
  const response = unfinished(acme, 'queued')
  await insert({ ...response, owner: { process: 'earlier', request: ofRun.id } } as typeof response)
  const ledger = createLedger(database, writer)
  expect(await ledger.recover()).toBe(1)
  const reserve = requestOf(acme)
  await ledger.reserve({ request: reserve, amount: 10n, promptCost: 1n, promptTokens: 7 })
  // From now on, only what runs have left is settled: the others are in progress.
  expect(await ledger.recover()).toBe(0)
  await runs.leaveReservation('own', { organization: acme, id: response.id })
  expect(await ledger.recover()).toBe(0)
  await finish(acme, response.id, end)
  expect(await ledger.recover()).toBe(1)
  expect((await organizations.find('acme'))?.reserved).toBe(10n)
})

test('no statement of the runs reads responses that have finished', async () => {
  const { database, writer, acme, insert } = await responseStorage()
  const response = unfinished(acme, 'queued')
  await insert(response)
  const run = { organization: acme, id: response.id }
  const recording = recordPlans(database)
  const runs = createRunStore(recording.recorded, writer)
  await runs.claimAbandoned('own', 10)
  await runs.read('own', [run])
  await runs.start('own', run)
  await runs.append('own', [{ ...run, position: 0, entries: '[]' }])
  await runs.progress([{ ...run, position: 0 }])
  await runs.owned('own')
  await runs.countQueued(acme)
  await runs.withdraw('own', run)
  await runs.requestCancel(run)
  await runs.leaveReservation('own', run)
  const recorded = recording.plans()
  expect(recorded.size).toBe(13)
  const plans = [...recorded.values()].flatMap((plan) => plan.split('; '))
  expect(plans.join()).toContain('INDEX responses_unfinished')
  const bounded =
    /^SCAN (json_each|runs)|FOR string_agg|^SCAN responses USING (COVERING )?INDEX responses_unfinished$/
  const others = plans.filter((step) => /^SCAN|TEMP B-TREE|AUTOMATIC/.test(step) && !bounded.test(step))
  expect(others).toEqual([])
})

/** The store of a process, and what it has stored. */
async function leftRuns() {
  const fixture = await responseStorage()
  return { ...fixture, replied: () => fixture.insert(finished(fixture.acme)) }
}
