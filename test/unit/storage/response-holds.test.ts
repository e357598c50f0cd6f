import { expect, test } from 'bun:test'
import { nextTurn } from '../../../src/lib/time.ts'
import { sqliteResponses } from './support/sqlite-responses.ts'
import { finished, responseStorage } from './support/response-fixture.ts'

/** Resolves when all is written that was begun, and what is begun after it in a turn of its own. */
async function settled({ writer }: Awaited<ReturnType<typeof responseStorage>>): Promise<void> {
  for (let turn = 0; turn < 3; turn++) {
    await nextTurn()
    await writer.write(() => {})
  }
}

test('a held response is hidden by a removal, and erased when it is released', async () => {
  const scenario = await responseStorage()
  const { responses, acme, answered: replied, rows } = scenario
  const [first, second] = [await replied(), await replied()]
  const release = responses.pin(second)
  await Promise.all([responses.remove(acme, first), responses.remove(acme, second)])
  expect(await responses.find(acme, second)).toBeUndefined()
  expect(await responses.remove(acme, second)).toBe('missing')
  await settled(scenario)
  expect(rows()).toEqual([second])
  release()
  await scenario.erased()
  expect(rows()).toEqual([])
})

test('a response that is removed while it is held stays as long as another one continues it', async () => {
  const scenario = await responseStorage()
  const { responses, acme, answered: replied, insert, rows } = scenario
  const [root] = [await replied()]
  const parent = await replied(root)
  const release = responses.pin(parent)
  await Promise.all([responses.remove(acme, parent), responses.remove(acme, root)])
  await settled(scenario)
  const follower = finished(acme, parent)
  // As a reply is stored: the write is begun, and in the same turn it is let go.
  const inserted = insert(follower)
  release()
  await inserted
  await settled(scenario)
  expect(rows()).toEqual([root, parent, follower.id])
  expect((await responses.chain(acme, follower.id))?.map(({ id }) => id)).toEqual([root, parent, follower.id])
  await responses.remove(acme, follower.id)
  await scenario.erased()
  expect(rows()).toEqual([])
})

test('a removal that is written just before a continuation does not erase a response that is released after it', async () => {
  const scenario = await responseStorage()
  const { responses, acme, answered: replied, insert } = scenario
  const parent = await replied()
  const release = responses.pin(parent)
  const follower = finished(acme, parent)
  const written = Promise.all([responses.remove(acme, parent), insert(follower)])
  release()
  await written
  await settled(scenario)
  expect(await responses.chain(acme, follower.id)).toHaveLength(2)
})

test('each of two holders must release a response, and each counts once', async () => {
  const scenario = await responseStorage()
  const { responses, acme, answered: replied, rows } = scenario
  const id = await replied()
  const [one, other] = [responses.pin(id), responses.pin(id)]
  await responses.remove(acme, id)
  one()
  one()
  await settled(scenario)
  expect(rows()).toEqual([id])
  other()
  await scenario.erased()
  expect(rows()).toEqual([])
})

test('a deleted response that is held keeps those before it', async () => {
  const scenario = await responseStorage()
  const { responses, acme, answeredInTurn, rows } = scenario
  const ids = await answeredInTurn(3)
  const release = responses.pin(ids[1]!)
  for (const id of ids) await responses.remove(acme, id)
  await settled(scenario)
  expect(rows()).toEqual(ids.slice(0, 2))
  release()
  await scenario.erased()
  expect(rows()).toEqual([])
})

test('retention finishes while a response is held, and erases it later', async () => {
  const scenario = await responseStorage()
  const { responses, answered: replied, rows } = scenario
  const [held, free] = [await replied(), await replied()]
  const release = responses.pin(held)
  const later = Date.now() + 1000
  expect(await responses.expire(later)).toBe(2)
  expect(await responses.expire(later)).toBe(0)
  expect(rows()).toEqual([held])
  expect(rows()).not.toContain(free)
  release()
  await scenario.erased()
  expect(rows()).toEqual([])
})

test('responses that a killed process held are erased at the next start', async () => {
  const scenario = await responseStorage()
  const { database, writer, responses, acme, answered: replied, rows } = scenario
  const id = await replied()
  responses.pin(id)
  await responses.remove(acme, id)
  await settled(scenario)
  expect(rows()).toEqual([id])
  sqliteResponses(database, writer)
  await scenario.erased()
  expect(rows()).toEqual([])
})

test('holding a response that does not exist, or is not removed, changes nothing', async () => {
  const scenario = await responseStorage()
  const { responses, acme, answered: replied, rows } = scenario
  const id = await replied()
  for (const held of [id, 'resp_unknown']) responses.pin(held)()
  await settled(scenario)
  expect(rows()).toEqual([id])
  expect(await responses.find(acme, id)).toBeDefined()
})
