import { expect, test } from 'bun:test'
import { dropStreams } from './support/drops.ts'
import { testSeed } from '../../support/seed.ts'

test(`five hundred dropped streams leave no open call behind (seed ${testSeed})`, async () => {
  const { open, statuses } = await dropStreams(500, testSeed)
  expect(open).toEqual([0, 0])
  expect(Object.keys(statuses)).toEqual(['499'])
}, 120_000)
