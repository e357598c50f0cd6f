import { expect, test } from 'bun:test'
import { createResponses } from '../../../src/storage/scripts/responses.ts'
import { createScriptRunner } from '../../../src/storage/sqlite/script-runner.ts'
import { responseStorage } from './support/response-fixture.ts'

/** A step reads the rows and their heads. */
const readsOfStep = 2

test('of several searches for rare responses, one takes a step in a turn of the event loop', async () => {
  const { database, writer, acme, answeredInTurn } = await responseStorage()
  await answeredInTurn(1200)
  const runner = createScriptRunner(database, writer)
  let reads = 0
  const mostReads: number[] = []
  const counting: typeof runner = {
    ...runner,
    read: (script) => {
      if (reads === 0)
        setImmediate(() => {
          mostReads.push(reads)
          reads = 0
        })
      reads += 1
      return runner.read(script)
    },
  }
  const responses = createResponses(counting, { written: async () => {} })
  const query = { organization: acme, model: 'acme/none', metadata: [], order: 'asc', limit: 20 } as const
  const lists = await Promise.all(Array.from({ length: 8 }, () => responses.list(query)))
  expect(lists.map(({ responses }) => responses.length)).toEqual(Array.from({ length: 8 }, () => 0))
  // All of them begin in the first turn.
  expect(Math.max(...mostReads.slice(1))).toBe(readsOfStep)
})
