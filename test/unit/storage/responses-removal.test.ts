import { expect, test } from 'bun:test'
import type { Database } from '../../../src/storage/sqlite/connection/database.ts'
import { stepRows } from '../../../src/storage/common/store-limits.ts'
import { sqliteResponses } from './support/sqlite-responses.ts'
import { Writer } from '../../../src/storage/sqlite/writer.ts'
import { waitUntil } from '../../support/billing-database.ts'
import { finished, idOf, responseStorage, responseStore } from './support/response-fixture.ts'
import { testStores } from './support/stores.ts'

/** As if each had been removed while others followed it. */
function hideAll({ sqlite }: Database, ids: readonly string[]): void {
  const hide = sqlite.prepare(
    "UPDATE responses SET deletion = 'needed' WHERE id IN (SELECT value FROM json_each(?))",
  )
  hide.run(JSON.stringify(ids))
}

testStores((open) => {
  test('a removed response is gone for every reader immediately, and can be removed once', async () => {
    const { responses, acme, answered: replied, rows } = await responseStore(open)
    const id = await replied()
    expect(await responses.remove(acme, id)).toBe('removed')
    expect(await responses.find(acme, id)).toBeUndefined()
    expect(await responses.findInput(acme, id)).toBeUndefined()
    expect(await responses.chain(acme, id)).toBeUndefined()
    expect(await responses.remove(acme, id)).toBe('missing')
    expect(await rows()).toEqual([])
  })

  test('a continued response is hidden, and erased with the last one that continues it', async () => {
    const { responses, acme, answered: replied, rows } = await responseStore(open)
    const first = await replied()
    const [left, right] = [await replied(first), await replied(first)]
    const leaf = await replied(left)
    await responses.remove(acme, first)
    expect(await responses.find(acme, first)).toBeUndefined()
    expect(await responses.remove(acme, first)).toBe('missing')
    await responses.remove(acme, left)
    expect(await rows()).toEqual([first, left, right, leaf])
    await responses.remove(acme, leaf)
    expect(await rows()).toEqual([first, right])
    await responses.remove(acme, right)
    expect(await rows()).toEqual([])
  })

  test('erasing stops at a response that is still visible', async () => {
    const { responses, acme, answeredInTurn, rows } = await responseStore(open)
    const ids = await answeredInTurn(4)
    for (const index of [0, 2, 3]) await responses.remove(acme, ids[index]!)
    expect(await rows()).toEqual([ids[0], ids[1]])
    expect(await responses.chain(acme, ids[1]!)).toHaveLength(2)
  })

  test('an unfinished response is not removed, and keeps what it continues', async () => {
    const { responses, start, acme, answered: replied, queued, rows, finish } = await responseStore(open)
    const first = await replied()
    const id = await queued(first)
    await responses.remove(acme, first)
    expect(await responses.remove(acme, id)).toBe('running')
    await start(acme, id)
    expect(await responses.remove(acme, id)).toBe('running')
    expect(await responses.find(acme, id)).toBeDefined()
    expect(await rows()).toEqual([first, id])
    await finish(acme, id, { status: 'failed', log: '' })
    expect(await responses.remove(acme, id)).toBe('removed')
    expect(await rows()).toEqual([])
  })

  test('retention removes what was finished before a time, oldest first, but keeps what the rest needs', async () => {
    const { responses, acme, other, insert, queued, rows, finish } = await responseStore(open)
    const at = (time: number, previousId?: string, owner = acme) => ({
      ...finished(owner, previousId),
      id: idOf(time),
    })
    const [first, second, alone, theirs] = [
      at(1000),
      at(1001, idOf(1000)),
      at(1002),
      at(1003, undefined, other),
    ]
    const young = at(2000, second.id)
    await insert(first, second, alone, theirs, young)
    const running = await queued()
    expect(await responses.expire(1000)).toBe(0)
    expect(await responses.expire(2000)).toBe(4)
    expect(await responses.expire(2000)).toBe(0)
    expect(await rows()).toEqual([first.id, second.id, young.id, running])
    for (const gone of [first, second, alone, theirs])
      expect(await responses.find(gone.organization, gone.id)).toBeUndefined()
    expect(await responses.chain(acme, young.id)).toHaveLength(3)
    expect(await responses.expire(2001)).toBe(1)
    expect(await rows()).toEqual([running])
    expect(await responses.expire(Date.now() + 1000)).toBe(0)
    await finish(acme, running, { status: 'completed', log: '' })
    expect(await responses.expire(Date.now() + 1000)).toBe(1)
    expect(await rows()).toEqual([])
  })

  test('a step of retention is bounded in rows', async () => {
    const { responses, answeredInTurn, insert, acme, rows } = await responseStore(open)
    await answeredInTurn(stepRows + 50)
    await insert(...Array.from({ length: 50 }, () => finished(acme)))
    const later = Date.now() + 1000
    expect(await responses.expire(later)).toBe(stepRows)
    const left = (await rows()).length
    expect(left).toBeGreaterThan(0)
    let steps = 0
    while ((await responses.expire(later)) > 0) steps++
    // In PostgreSQL, the last ones may be those that the store erases in the background at this moment.
    await waitUntil(async () => (await rows()).length === 0, 'the responses to be erased')
    expect(steps).toBeGreaterThan(1)
  })

  test('a step of retention is bounded in bytes', async () => {
    const { responses, answered: replied, rows } = await responseStore(open)
    const log = 'x'.repeat(1024 * 1024)
    for (let count = 0; count < 10; count++) await replied(undefined, { log })
    expect(await responses.expire(Date.now() + 1000)).toBe(4)
    expect(await rows()).toHaveLength(6)
    expect(await responses.expire(Date.now() + 1000)).toBe(4)
    expect(await responses.expire(Date.now() + 1000)).toBe(2)
    expect(await responses.expire(Date.now() + 1000)).toBe(0)
  })
})

test('a deleted chain of 10,000 is erased in steps when its last response is deleted', async () => {
  const { database, responses, acme, answeredInTurn, writer, rows, erased } = await responseStorage()
  const ids = await answeredInTurn(10_000)
  hideAll(database, ids.slice(0, -1))
  const left = ids.length - stepRows
  const removal = responses.remove(acme, ids.at(-1)!)
  const between = writer.write(() => rows().length)
  expect(await removal).toBe('removed')
  // The first step comes with the removal, and others do not wait for the rest.
  expect(await between).toBe(left)
  await erased()
  expect(rows()).toEqual([])
})

test('responses that a killed process did not erase are erased after the next removal', async () => {
  const { database, responses, acme, answeredInTurn, writer, rows } = await responseStorage()
  const ids = await answeredInTurn(3 * stepRows)
  hideAll(database, ids.slice(1, -1))
  const removal = responses.remove(acme, ids.at(-1)!)
  writer.close()
  await removal
  expect(rows()).toHaveLength(2 * stepRows)
  const nextWriter = new Writer(database)
  const next = sqliteResponses(database, nextWriter)
  expect(await next.remove(acme, ids[0]!)).toBe('removed')
  while (rows().length > 0) await nextWriter.write(() => {})
})

test('a response that is about to be erased is kept by a new one that continues it', async () => {
  const { database, responses, acme, answeredInTurn, insert, rows, erased } = await responseStorage()
  const ids = await answeredInTurn(stepRows + 10)
  hideAll(database, ids.slice(0, -1))
  const due = ids[9]!
  const follower = finished(acme, due)
  const removal = responses.remove(acme, ids.at(-1)!)
  await Promise.all([removal, insert(follower)])
  await erased()
  expect(rows()).toEqual([...ids.slice(0, 10), follower.id])
  expect(await responses.chain(acme, follower.id)).toHaveLength(11)
  await responses.remove(acme, follower.id)
  expect(rows()).toEqual([])
})
