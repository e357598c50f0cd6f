import { expect, test } from 'bun:test'
import type { Database } from '../../../src/storage/sqlite/connection/database.ts'
import { sqliteResponses } from './support/sqlite-responses.ts'
import { createRunStore } from '../../../src/storage/sqlite/run-store.ts'
import { finishResponse } from '../../../src/storage/sqlite/writes.ts'
import { recordPlans } from '../../support/query-plans.ts'
import { testDatabase } from './support/folder.ts'
import { finished, responseStorage, responseStore, unfinished } from './support/response-fixture.ts'
import { testStores } from './support/stores.ts'

testStores((open) => {
  test('a chain ends where it would lead to another organization', async () => {
    const { responses, acme, other, insert, answered: replied, rows } = await responseStore(open)
    const theirs = finished(other)
    await insert(theirs)
    const [ended, waiting] = [await replied(theirs.id), unfinished(acme, 'queued', theirs.id)]
    await insert(waiting)
    expect(await responses.chain(acme, ended)).toBeUndefined()
    expect(await responses.runContext(acme, waiting.id)).toBeUndefined()
    expect(await responses.remove(other, theirs.id)).toBe('removed')
    expect(await rows()).toEqual([ended, waiting.id])
  })

  test('the removal of a response does not erase a deleted one of another organization', async () => {
    const { responses, acme, other, insert, answered: replied, rows } = await responseStore(open)
    const theirs = finished(other)
    const follower = finished(other, theirs.id)
    await insert(theirs, follower)
    await responses.remove(other, theirs.id)
    const mine = await replied(theirs.id)
    await responses.remove(acme, mine)
    expect(await rows()).toEqual([theirs.id, follower.id])
  })
})

test('another organization reads no response and changes none', async () => {
  const {
    responses,
    start,
    append,
    acme,
    other,
    answered: replied,
    queued,
    database,
    insert,
    finish,
  } = await responseStorage()
  const first = await replied()
  const [ended, waiting, running] = [await replied(first), await queued(first), await queued()]
  await start(acme, running)
  await insert(finished(other))
  const all = () => [
    database.sqlite.prepare('SELECT * FROM responses WHERE organization_id = ? ORDER BY id').all(acme),
    database.sqlite.prepare('SELECT * FROM response_log').all(),
  ]
  const before = all()
  for (const id of [first, ended, waiting, running]) {
    expect(await responses.find(other, id)).toBeUndefined()
    expect(await responses.findInput(other, id)).toBeUndefined()
    expect(await responses.findRun(other, id)).toBeUndefined()
    expect(await responses.chain(other, id)).toBeUndefined()
    expect(await responses.runContext(other, id)).toBeUndefined()
    expect(await responses.remove(other, id)).toBe('missing')
    expect(await start(other, id)).toBe(false)
    await append(other, id, 0, '["foreign"]\n')
    const end = { status: 'failed', log: '["foreign"]\n' } as const
    expect(await finish(other, id, end)).toBe(false)
  }
  expect(all()).toEqual(before)
  expect(await responses.find(acme, first)).toBeDefined()
})

test('no statement of responses scans a table, or sorts it', async () => {
  const { database, writer, acme, answered: replied, queued } = await responseStorage()
  const [parent, run] = [await replied(), await queued()]
  const leaf = await replied(parent)
  const { recorded, plans } = recordPlans(database)
  const responses = sqliteResponses(recorded, writer)
  for (const order of ['asc', 'desc'] as const)
    await responses.list({ organization: acme, model: 'acme/river', metadata: [], order, limit: 20 })
  await responses.list({ organization: acme, metadata: [], order: 'asc', limit: 20 })
  await responses.find(acme, leaf, () => {})
  await responses.findInput(acme, leaf)
  await responses.findRun(acme, run)
  await responses.chain(acme, leaf)
  await responses.runContext(acme, run)
  await writer.write(() => recorded.run(finishResponse({ organization: acme, id: run }, end)))
  await responses.remove(acme, parent)
  await responses.expire(Date.now() + 1000)
  const read = [...plans()].filter(([text]) => !/^\s*insert/.test(text))
  expect(read.length).toBeGreaterThan(18)
  // The links of one chain, the pieces of one log, lists of ids, and an index of nothing but what is to be erased.
  const bounded = /^SCAN (link|ids|json_each)|FOR string_agg|^SCAN responses USING INDEX responses_to_erase$/
  for (const [text, plan] of read) {
    const steps = plan.split('; ').filter((step) => !bounded.test(step))
    expect([text, steps.filter((step) => /^SCAN|TEMP B-TREE|AUTOMATIC/.test(step))]).toEqual([text, []])
  }
  // An index on the organization alone would read all of its responses.
  expect(read.filter(([, plan]) => plan.includes('(organization_id=?)'))).toEqual([])
  const all = read.map(([, plan]) => plan).join()
  for (const index of ['of_organization', 'that_follow', 'in_sight', 'to_erase'])
    expect(all).toContain(`INDEX responses_${index}`)
})

const end = { status: 'completed', log: '' } as const

test('a start finds the runs that were left by an index', async () => {
  const { database, writer } = await responseStorage()
  const { recorded, plans } = recordPlans(database)
  await createRunStore(recorded, writer).claimAbandoned('own', 1)
  const left = [...plans()].filter(([text]) => text.startsWith('SELECT 1 FROM responses'))
  expect(left.map(([, plan]) => plan)).toEqual([expect.stringContaining('INDEX responses_unfinished')])
})

test('the responses and the log pieces of a deletion are found by an index', () => {
  const database = testDatabase()
  const owned = planOf(database, 'SELECT 1 FROM responses WHERE organization_id = ?')
  expect(owned).toEqual([
    expect.stringMatching(/^SEARCH .*INDEX responses_that_follow \(organization_id=\?\)/),
  ])
  const pieces = planOf(database, 'SELECT 1 FROM response_log WHERE response_id = ?')
  expect(pieces).toEqual([expect.stringMatching(/^SEARCH .*\(response_id=\?\)/)])
})

function planOf({ sqlite }: Database, statement: string): string[] {
  const plan = sqlite.prepare<{ readonly detail: string }, []>(`EXPLAIN QUERY PLAN ${statement}`)
  return plan.all().map(({ detail }) => detail)
}
