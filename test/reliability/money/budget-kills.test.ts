import { expect, test } from 'bun:test'
import { startBillingProvider } from '../../bench/overspend/provider.ts'
import { spendBudget } from '../../bench/overspend/spend.ts'
import { budget } from '../../bench/overspend/spending.ts'
import { weirOnPostgres, weirOnSqlite } from '../../bench/overspend/weir.ts'
import { hasPostgres } from '../../support/postgres/server.ts'
import { weirCommand } from '../../support/weir-command.ts'

const timeoutMs = 240_000

test(
  'a budget holds while 200 callers spend it and the server on SQLite is killed and starts again',
  () => expectWithinBudget(weirOnSqlite),
  timeoutMs,
)

test.skipIf(!hasPostgres)(
  'a budget holds while 200 callers spend it and one of three servers on PostgreSQL is killed',
  () => expectWithinBudget(weirOnPostgres),
  timeoutMs,
)

async function expectWithinBudget(start: typeof weirOnSqlite): Promise<void> {
  await using provider = startBillingProvider()
  await using gateway = await start(weirCommand, provider.url)
  const { problems, billed, completed } = await spendBudget(gateway, provider, true)
  expect(problems).toEqual([])
  // By the provider's own count, which has the calls that it finished for the killed server.
  expect(billed).toBeLessThanOrEqual(budget + 1e-9)
  expect(completed).toBeGreaterThanOrEqual(60)
}
