import { formatPercent } from '../../components/format.ts'
import type { ApiClient } from '../../api/client.ts'
import { type Day, type DayUsage, loadWeek, resultsOf, sumCosts, sumUsage } from '../../api/week.ts'

/** The requests of a period. */
export type Requests = { readonly all: number; readonly clientErrors: number; readonly serverErrors: number }

/** Today by UTC, beside the six days before. Costs are nano-dollars; null for requests of which none has a known cost. */
export type Today = {
  readonly requests: Requests
  readonly cost: bigint | null
  readonly unpriced: number
  /** The six days before. */
  readonly before: { readonly requests: Requests; readonly cost: bigint | null }
}

/** Loads the usage and the costs of seven days, of which the last is the one of `nowMs`. */
export async function loadToday(client: ApiClient, nowMs: number, signal: AbortSignal): Promise<Today> {
  const week = await loadWeek(client, nowMs, {}, signal)
  const [usageToday, usageBefore] = split(week.usage, week.today)
  const [costsToday, costsBefore] = split(week.costs, week.today)
  return {
    requests: sumRequests(usageToday),
    cost: sumCosts(costsToday),
    unpriced: costsToday.reduce((sum, { num_unpriced_requests: count }) => sum + count, 0),
    before: { requests: sumRequests(usageBefore), cost: sumCosts(costsBefore) },
  }
}

/** The results of the days from this second on, and of those before. */
function split<Result>(
  days: readonly Day<Result>[],
  start: number,
): readonly [readonly Result[], readonly Result[]] {
  return [
    resultsOf(days.filter(({ start_time }) => start_time >= start)),
    resultsOf(days.filter(({ start_time }) => start_time < start)),
  ]
}

function sumRequests(results: readonly DayUsage[]): Requests {
  return {
    all: sumUsage(results, 'num_model_requests'),
    clientErrors: sumUsage(results, 'num_client_errors'),
    serverErrors: sumUsage(results, 'num_server_errors'),
  }
}

/** How good a rate of errors is, in a color and in a word. Only errors of the gateway and its providers count. */
export function errorRate({ all, serverErrors }: Requests): {
  readonly text: string
  readonly tone: 'neutral' | 'good' | 'warning' | 'bad'
  readonly word: string
} {
  if (all === 0) return { text: '–', tone: 'neutral', word: 'no requests' }
  const rate = serverErrors / all
  const text = formatPercent(rate)
  if (rate < 0.01) return { text, tone: 'good', word: 'normal' }
  return rate < 0.05 ? { text, tone: 'warning', word: 'raised' } : { text, tone: 'bad', word: 'high' }
}
