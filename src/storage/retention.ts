import { causeOf, type Log } from '../lib/log.ts'
import { repeatEvery, wait } from '../lib/time.ts'
import type { Storage } from './ports/storage.ts'
import type { CurrentAlerts } from './ports/webhooks.ts'

/** How long stored data is kept, in milliseconds; forever if absent. */
export type Retention = {
  readonly completions?: number | undefined
  readonly responses?: number | undefined
  readonly usage?: number | undefined
  readonly contentLog?: number | undefined
  readonly audit?: number | undefined
}

/** A small step of cleaning, which delays requests no longer than one of their own writes. */
type SweepStep = {
  readonly name: string
  /** Resolves with the number of changes: 0 if nothing is left to do. */
  run(): Promise<number>
}

type RetentionOptions = {
  /** The current setting. */
  readonly retention: () => Retention
  readonly alerts: CurrentAlerts
  readonly sweepIntervalMs: number
  /** Whether this process is to do the work, at this moment: if several share the database, one is enough. */
  readonly isDue: () => boolean
}

/** Deletes expired data once per interval, until it is stopped. */
export function startRetention(
  storage: Storage,
  { retention, alerts, sweepIntervalMs, isDue }: RetentionOptions,
  log: Log,
): { stop(): void } {
  const steps = sweepSteps(storage, retention, alerts)
  // The deletions that an earlier process left unfinished do not wait for the first interval.
  return startSweeps(steps, steps.slice(0, 1), { intervalMs: sweepIntervalMs, isDue, log })
}

/** Between two updates of the totals that usage reports read. */
const rollupIntervalMs = 15_000

/** Keeps the totals of usage up to date, until it is stopped; the first update begins at once. */
export function startUsageRollup(
  { usage }: Pick<Storage, 'usage'>,
  isDue: RetentionOptions['isDue'],
  log: Log,
): { stop(): void } {
  const steps = [{ name: 'usage totals', run: usage.rollUp }]
  return startSweeps(steps, steps, { intervalMs: rollupIntervalMs, isDue, log })
}

/** Between two searches for keys that have ended. */
const returnIntervalMs = 5000

/** Returns what is left of the budgets of keys that have ended to those that created them, until it is stopped. */
export function startBudgetReturns(
  { managed: { keys } }: Pick<Storage, 'managed'>,
  isDue: RetentionOptions['isDue'],
  log: Log,
): { stop(): void } {
  const steps = [{ name: 'budgets of ended keys', run: keys.returnAllocations }]
  return startSweeps(steps, steps, { intervalMs: returnIntervalMs, isDue, log })
}

type Sweeps = { readonly intervalMs: number; readonly isDue: () => boolean; readonly log: Log }

/** Runs the first steps at once, and then all steps once per interval. */
function startSweeps(
  steps: readonly SweepStep[],
  first: readonly SweepStep[],
  { intervalMs, isDue, log }: Sweeps,
): { stop(): void } {
  const stopped = new AbortController()
  const sweepIfDue = async (due: readonly SweepStep[]) => {
    if (isDue()) await sweep(due, log, stopped.signal)
  }
  void sweepIfDue(first)
  // Steps that fail are logged one by one.
  const repeating = repeatEvery(
    intervalMs,
    () => sweepIfDue(steps),
    () => {},
  )
  return {
    stop() {
      repeating.stop()
      stopped.abort()
    },
  }
}

/** Returning space comes last, because the other steps free it. */
function sweepSteps(
  storage: Storage,
  retention: () => Retention,
  alerts: CurrentAlerts,
): readonly SweepStep[] {
  const {
    providerState: states,
    completions,
    responses,
    usage,
    pendingDeletions,
    returnSpace,
    managed,
  } = storage
  const expireAfter = (maxAgeMs: number | undefined, expire: (before: number) => Promise<number>) =>
    maxAgeMs === undefined ? Promise.resolve(0) : expire(Date.now() - maxAgeMs)
  return [
    { name: 'deleted organizations', run: pendingDeletions.continue },
    { name: 'provider state', run: () => states.deleteExpired() },
    { name: 'completions', run: () => expireAfter(retention().completions, completions.expire) },
    { name: 'responses', run: () => expireAfter(retention().responses, responses.expire) },
    { name: 'content log', run: () => expireAfter(retention().contentLog, usage.expireContent) },
    { name: 'usage', run: () => expireAfter(retention().usage, usage.expire) },
    { name: 'audit log', run: () => expireAfter(retention().audit, managed.audit.expire) },
    { name: 'webhooks', run: managed.webhooks.expire },
    { name: 'expiring keys', run: async () => (alerts().keys ? managed.webhooks.reportExpiringKeys() : 0) },
    { name: 'space', run: () => returnSpace() },
  ]
}

/** The time between two steps, in which requests can write. */
const stepIntervalMs = 20

/** Runs each step until it has nothing left to do; a step that fails does not stop the others. Ends with the signal. */
export async function sweep(steps: readonly SweepStep[], log: Log, signal: AbortSignal): Promise<void> {
  for (const step of steps) {
    try {
      while (!signal.aborted && (await step.run()) > 0) await wait(stepIntervalMs, signal)
    } catch (error) {
      if (signal.aborted) return
      log.warn('A maintenance step of the database failed and will be repeated.', {
        step: step.name,
        cause: causeOf(error),
      })
    }
  }
}
