import { expect, test } from 'bun:test'
import type { GatewayProcess } from '../money/support/gateway-process.ts'
import { startRun, words } from './long-run.ts'

test('an output of 5,000 deltas is stored in little more than its text, with few commits', async () => {
  await using run = await startRun(6)
  const before = await commitsOf(run.gateway)
  const startedAt = performance.now()
  run.open()
  const { events, last } = await run.follow()
  expect(last?.status).toBe('completed')
  expect(events.filter(({ type }) => type === 'response.output_text.delta')).toHaveLength(words)
  const commits = (await commitsOf(run.gateway)) - before
  const elapsedMs = performance.now() - startedAt
  const stored = await storedOf(run.gateway)
  expect(stored).toBeLessThan(60_000)
  // One for the end, and before that at most one in 50 ms for the output, because it is read.
  expect(commits).toBeLessThan(Math.max(20, 5 + elapsedMs / 50))
}, 120_000)

/** Everything that the run has stored, in bytes. */
async function storedOf({ books: billing }: GatewayProcess): Promise<number> {
  const pieces = 'SELECT coalesce(sum(octet_length(entries)), 0) FROM response_log'
  const sum = `SELECT sum(octet_length(log)) + (${pieces}) FROM responses`
  return Number((await billing.values(sum))[0]?.[0])
}

async function commitsOf({ url }: GatewayProcess): Promise<number> {
  const metrics = await (await fetch(`${url()}/metrics`)).text()
  const [, commits] = /^weir_database_commits_total (\d+)$/m.exec(metrics) ?? []
  return Number(commits)
}
