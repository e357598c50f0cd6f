import { waitUntil } from '../../support/billing-database.ts'
import { budget, type BudgetedGateway, callers, maxCost, maxTokens, type Spending } from './spending.ts'
import type { BillingProvider } from './provider.ts'

/** Milliseconds: a caller who was refused tries again after this time. */
const pauseMs = 100
/** Milliseconds without a call after which the budget is spent. */
const quietMs = 2500
const deadlineMs = 120_000
/** A server is killed when this many calls are complete, in the middle of many others. */
const killAfter = 60

type Counts = { completed: number; refused: number; lost: number; lastCallAt: number }

/** Spends the budget of a key with all callers until the gateway lets none of them through any more. */
export async function spendBudget(
  gateway: BudgetedGateway,
  provider: BillingProvider,
  kills: boolean,
): Promise<Spending> {
  const billedBefore = provider.billed()
  const counts: Counts = { completed: 0, refused: 0, lost: 0, lastCallAt: performance.now() }
  const ended = new AbortController()
  const asking = Array.from({ length: callers }, (_, caller) => ask(gateway, caller, counts, ended.signal))
  let received = provider.received()
  const isSpent = () => {
    if (provider.received() > received || provider.open() > 0) counts.lastCallAt = performance.now()
    received = provider.received()
    return performance.now() - counts.lastCallAt > quietMs
  }
  if (kills) {
    await waitUntil(() => counts.completed >= killAfter, 'enough calls', deadlineMs)
    await gateway.kill?.()
  }
  await waitUntil(isSpent, 'the end of the budget', deadlineMs)
  ended.abort()
  await Promise.all(asking)
  await waitUntil(() => provider.open() === 0, 'the end of all calls', deadlineMs)
  const billed = provider.billed() - billedBefore
  const books = await gateway.books?.()
  return {
    name: gateway.name,
    killed: kills,
    completed: counts.completed,
    refused: counts.refused,
    lost: counts.lost,
    billed,
    spent: books?.spent,
    problems: [...problemsOf(billed, books?.spent, kills), ...(books?.problems ?? [])],
  }
}

async function ask(
  gateway: BudgetedGateway,
  caller: number,
  counts: Counts,
  ended: AbortSignal,
): Promise<void> {
  for (let turn = caller; !ended.aborted; turn++) {
    const urls = gateway.urls()
    const outcome = await send(urls[turn % urls.length] ?? '', gateway, turn % 2 === 0)
    counts[outcome]++
    if (outcome !== 'completed') await Bun.sleep(pauseMs)
  }
}

/** Sends one request over a connection of its own, so that none is blamed for the end of another one's server. */
async function send(
  url: string,
  { key, model }: BudgetedGateway,
  stream: boolean,
): Promise<'completed' | 'refused' | 'lost'> {
  try {
    const reply = await fetch(`${url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        model,
        stream,
        max_tokens: maxTokens,
        messages: [{ role: 'user', content: 'How high is the river at the old mill today?' }],
      }),
      keepalive: false,
      signal: AbortSignal.timeout(30_000),
    })
    await reply.text()
    return reply.ok ? 'completed' : 'refused'
  } catch {
    return 'lost'
  }
}

/** Returns what contradicts the budget. Money of a killed server stays held, so that less than all may be spent then. */
function problemsOf(billed: number, spent: number | undefined, killed: boolean): readonly string[] {
  const unspent = budget - billed
  return [
    ...(billed > budget + rounding ? [`The provider billed ${billed.toFixed(4)} USD.`] : []),
    ...(spent !== undefined && spent > budget + rounding ? [`The ledger has ${spent.toFixed(4)} USD.`] : []),
    ...(!killed && unspent >= maxCost ? [`${unspent.toFixed(4)} USD were left unspent.`] : []),
  ]
}

/** USD: sums of doubles differ from exact ones by less. */
const rounding = 1e-9
