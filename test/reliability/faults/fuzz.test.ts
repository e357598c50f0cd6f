import { expect, test } from 'bun:test'
import { fuzz } from './support/fuzz.ts'

test('no random request causes an internal error, a hang or a crash', async () => {
  const seed = process.env.WEIR_TEST_SEED ?? String(Date.now())
  console.log(`WEIR_TEST_SEED=${seed}`)
  const { requests, statuses, findings, alive, growth, log } = await fuzz({ seed, requests: 2500 })
  console.log(JSON.stringify({ requests, statuses, growth: Math.round(growth) }))
  expect(findings).toEqual([])
  expect(alive).toBe(true)
  expect(log).not.toMatch(/"level":"(error|warn)"|reject|^ +at /m)
  for (const status of [200, 400, 401, 404, 405])
    expect([status, (statuses[status] ?? 0) > 5]).toEqual([status, true])
  if (!Number.isNaN(growth)) expect(growth).toBeLessThan(200)
}, 60_000)
