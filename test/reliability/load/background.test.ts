import { test } from 'bun:test'
import { followRuns } from './follow-runs.ts'

test('forty concurrent background runs send all of their events to three readers each', async () => {
  await followRuns(40, 3)
}, 120_000)
