import { hasPostgres } from '../../support/postgres/server.ts'
import { providerPort, runningGateway } from './other-gateways.ts'
import { type BillingProvider, startBillingProvider } from './provider.ts'
import { spendBudget } from './spend.ts'
import { budget, type BudgetedGateway, callers, maxCost, type Spending } from './spending.ts'
import { weirOnPostgres, weirOnSqlite } from './weir.ts'

/**
 * Lets 200 callers spend a key's budget of one dollar through each gateway, without and with a kill, and returns what was
 * spent by the gateway's and by the provider's own count.
 */
export async function measureOverspend(
  executable: string,
  log: (line: string) => void,
): Promise<readonly Spending[]> {
  const results: Spending[] = []
  const starts = [weirOnSqlite, ...(hasPostgres ? [weirOnPostgres] : [])]
  for (const start of starts)
    for (const kills of [false, true]) {
      await using provider = startBillingProvider()
      await using gateway = await start([executable], provider.url)
      results.push(await spendWith(gateway, provider, kills, log))
    }
  await using other = runningGateway() ?? null
  if (other === null) return results
  await using provider = startBillingProvider(providerPort)
  return [...results, await spendWith(other, provider, false, log)]
}

async function spendWith(
  gateway: BudgetedGateway,
  provider: BillingProvider,
  kills: boolean,
  log: (line: string) => void,
): Promise<Spending> {
  log(`${gateway.name}${kills ? ', of which one is killed' : ''} …`)
  return await spendBudget(gateway, provider, kills)
}

/** Renders the results as a table in Markdown, and what contradicts the budget. */
export function overspendTable(results: readonly Spending[]): string {
  const rows = results.map((result) => [
    `${result.name}${result.killed ? ', one killed' : ''}`,
    result.completed,
    result.refused,
    result.lost,
    usd(result.spent),
    usd(result.billed),
    result.billed > budget ? `+${usd(result.billed - budget)}` : 'no',
  ])
  const head = ['gateway', 'completed', 'refused', 'lost', 'its ledger', 'provider’s bill', 'over budget']
  const line = (cells: readonly unknown[]) => `| ${cells.join(' | ')} |`
  const problems = results.flatMap(({ name, problems }) => problems.map((problem) => `- ${name}: ${problem}`))
  return [
    `${callers} callers, one key with a budget of ${usd(budget)}; a call costs at most ${usd(maxCost)}.`,
    '',
    line(head),
    line(head.map(() => '---')),
    ...rows.map(line),
    ...(problems.length > 0 ? ['', ...problems] : []),
  ].join('\n')
}

function usd(amount: number | undefined): string {
  return amount === undefined ? '–' : `$${amount.toFixed(4)}`
}
