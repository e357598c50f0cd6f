import { expect, test } from 'bun:test'
import { dropStreams } from './support/drops.ts'

const seed = process.env.WEIR_TEST_SEED ?? 'drops'

test(`five hundred dropped streams leave no open call behind (seed ${seed})`, async () => {
  const { open, statuses } = await dropStreams(500, seed)
  expect(open).toEqual([0, 0])
  expect(Object.keys(statuses)).toEqual(['499'])
}, 60_000)
