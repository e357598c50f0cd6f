import { formatPercent } from '../../components/format.ts'
import type { ApiClient } from '../../api/client.ts'
import { type Bucket, grandTotal, loadWeek, type Totals } from '../usage/report.ts'

/** Today by UTC, a day such as `2026-11-22`, beside the six days before. */
export type Today = { readonly day: string; readonly today: Totals; readonly before: Totals }

/** Loads the figures of seven days, of which the last is the one of `nowMs`. */
export async function loadToday(client: ApiClient, nowMs: number, signal: AbortSignal): Promise<Today> {
  const { usage, costs } = await loadWeek(client, {}, nowMs, signal)
  const midnight = Math.floor(nowMs / dayMs) * (dayMs / 1000)
  const isToday = ({ start_time }: Bucket<unknown>) => start_time >= midnight
  const isBefore = ({ start_time }: Bucket<unknown>) => start_time < midnight
  return {
    day: new Date(midnight * 1000).toISOString().slice(0, 10),
    today: grandTotal({ usage: usage.filter(isToday), costs: costs.filter(isToday) }),
    before: grandTotal({ usage: usage.filter(isBefore), costs: costs.filter(isBefore) }),
  }
}

const dayMs = 86_400_000

/** How good a rate of errors is, in a color and in a word. Only errors of the gateway and its providers count. */
export function errorRate({ requests, serverErrors }: Pick<Totals, 'requests' | 'serverErrors'>): {
  readonly text: string
  readonly tone: 'neutral' | 'good' | 'warning' | 'bad'
  readonly word: string
} {
  if (requests === 0) return { text: '–', tone: 'neutral', word: 'no requests' }
  const rate = serverErrors / requests
  const text = formatPercent(rate)
  if (rate < 0.01) return { text, tone: 'good', word: 'normal' }
  return rate < 0.05 ? { text, tone: 'warning', word: 'raised' } : { text, tone: 'bad', word: 'high' }
}
