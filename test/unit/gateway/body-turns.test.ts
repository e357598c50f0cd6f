import { expect, test } from 'bun:test'
import type { Organization } from '../../../src/domain/accounting/organization.ts'
import { BodyTurns } from '../../../src/gateway/rate-limits/body-turns.ts'

const organization = (id: string) => ({ id }) as Organization

/** Enters these bodies at once; resolves with what was processed in each turn of the event loop. */
async function turnsOf(bodies: readonly string[]): Promise<string[][]> {
  const turns = new BodyTurns()
  const processed: string[] = []
  const perTurn: string[][] = []
  const entered = bodies.map(async (id) => {
    await turns.enter(organization(id))
    processed.push(id)
  })
  while (perTurn.flat().length < bodies.length) {
    await new Promise((resolve) => setImmediate(resolve))
    perTurn.push(processed.splice(0))
  }
  await Promise.all(entered)
  return perTurn.filter((turn) => turn.length > 0)
}

test('a turn of the event loop has one body, however many arrive at once', async () => {
  const turns = await turnsOf(Array<string>(32).fill('a'))
  expect(turns).toEqual(Array.from({ length: 32 }, () => ['a']))
})

test('organizations take turns, so that many bodies of one do not delay a single one of another', async () => {
  const turns = await turnsOf(['a', 'a', 'a', 'a', 'b', 'c', 'c'])
  expect(turns.flat()).toEqual(['a', 'b', 'c', 'a', 'c', 'a', 'a'])
})

test('a body that arrives later has its turn, too', async () => {
  const turns = new BodyTurns()
  await turns.enter(organization('a'))
  await turns.enter(organization('b'))
  await Promise.all([turns.enter(organization('b')), turns.enter(organization('a'))])
})
