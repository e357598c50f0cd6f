import { expect, test } from 'bun:test'
import { fuzz } from './support/fuzz.ts'
import { testSeed } from '../../support/seed.ts'

test(`no random request causes an internal error, a hang or a crash (seed ${testSeed})`, async () => {
  const { statuses, findings, alive, log } = await fuzz({ seed: testSeed, requests: 2500 })
  expect(findings).toEqual([])
  expect(alive).toBe(true)
  expect(log).not.toMatch(/"level":"(error|warn)"|reject|^ +at /m)
  for (const status of [200, 400, 401, 404, 405])
    expect([status, (statuses[status] ?? 0) > 5]).toEqual([status, true])
}, 120_000)
