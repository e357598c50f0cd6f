import { expect, test } from 'bun:test'
import { fuzz } from './support/fuzz.ts'
import { testSeed } from '../../support/seed.ts'

test(`no random request causes an internal error, a hang or a crash (seed ${testSeed})`, async () => {
  const { statuses, findings, alive, log } = await fuzz({ seed: testSeed, requests: 2500 })
  // The log has the cause of what was found.
  const errors = log.match(/^.*"level":"error".*$/gm) ?? []
  expect({ findings, errors }).toEqual({ findings: [], errors: [] })
  expect(alive).toBe(true)
  expect(log).not.toMatch(/"level":"(error|warn)"|reject|^ +at /m)
  for (const status of [200, 400, 401, 404, 405])
    expect([status, (statuses[status] ?? 0) > 5]).toEqual([status, true])
}, 120_000)
