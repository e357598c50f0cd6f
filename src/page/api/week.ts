import { parseUsd } from '../../lib/usd.ts'
import { decimalText } from '../components/format.ts'
import type { ApiClient } from './client.ts'

/** The usage of a day. */
export type DayUsage = {
  readonly num_model_requests: number
  readonly num_failed_requests: number
  readonly num_client_errors: number
  readonly num_server_errors: number
  readonly input_tokens: number
  readonly output_tokens: number
}

/** The costs of a day. */
export type DayCosts = {
  readonly amount: { readonly value: number | string | null }
  readonly num_unpriced_requests: number
}

/** A day of UTC, in Unix seconds. */
export type Day<Result> = { readonly start_time: number; readonly results: readonly Result[] }

/** The usage and the costs of seven days. */
export type Week = {
  readonly usage: readonly Day<DayUsage>[]
  readonly costs: readonly Day<DayCosts>[]
  /** When the last of the days began, in Unix seconds. */
  readonly today: number
}

const daySeconds = 86_400

/** Loads the usage and the costs of seven days of UTC, of which the last is the one of `nowMs`. */
export async function loadWeek(
  client: ApiClient,
  nowMs: number,
  { models }: { readonly models?: readonly string[] },
  signal: AbortSignal,
): Promise<Week> {
  const now = Math.floor(nowMs / 1000)
  const today = now - (now % daySeconds)
  const load = <Result>(path: string) =>
    client.get<{ readonly data: readonly Day<Result>[] }>(path, {
      query: {
        start_time: today - 6 * daySeconds,
        end_time: now,
        bucket_width: '1d',
        limit: 7,
        models,
      },
      signal,
    })
  const [usage, costs] = await Promise.all([
    load<DayUsage>('/v1/organization/usage/completions'),
    load<DayCosts>('/v1/organization/costs'),
  ])
  return { usage: usage.data, costs: costs.data, today }
}

/** The results of all these days. */
export function resultsOf<Result>(days: readonly Day<Result>[]): readonly Result[] {
  return days.flatMap(({ results }) => results)
}

/** The cost of a result in nano-dollars; undefined where it is unknown. */
function nanosOf({ amount }: DayCosts): bigint | undefined {
  return parseUsd(decimalText(amount.value ?? ''))
}

/** The sum in nano-dollars; null for requests of which none has a known cost. */
export function sumCosts(results: readonly DayCosts[]): bigint | null {
  const known = results.map(nanosOf).filter((cost) => cost !== undefined)
  return known.length === 0 && results.length > 0 ? null : known.reduce((sum, cost) => sum + cost, 0n)
}

/** The sum of a count over all results. */
export function sumUsage(results: readonly DayUsage[], field: keyof DayUsage): number {
  return results.reduce((total, result) => total + result[field], 0)
}
