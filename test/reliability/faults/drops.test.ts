import { expect, test } from 'bun:test'
import { dropStreams } from './support/drops.ts'

/** In MiB. What one of these streams leaves behind would be seen from about 100 kB on. */
const maxGrowth = 60

test('five hundred dropped streams leave no open call and no memory behind', async () => {
  const seed = process.env.WEIR_TEST_SEED ?? String(Date.now())
  const { memory, open, statuses } = await dropStreams(500, seed)
  console.log(JSON.stringify({ WEIR_TEST_SEED: seed, memory, statuses }))
  expect(open).toEqual([0, 0])
  expect(Object.keys(statuses)).toEqual(['499'])
  const [first = 0, last = 0] = memory
  if (!Number.isNaN(last)) expect(last - first).toBeLessThan(maxGrowth)
}, 60_000)
