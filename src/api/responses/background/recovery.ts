import type { Outcome } from '../../../domain/accounting/request-metadata.ts'
import { estimateTokens } from '../../../gateway/billing/estimate.ts'
import { failureOutcome as outcomeOf } from '../../../gateway/billing/outcome.ts'
import { costOf } from '../../../gateway/billing/price.ts'
import type { Models } from '../../../gateway/models/models.ts'
import type { RateLimits } from '../../../gateway/rate-limits/rate-limits.ts'
import { interrupted, unreadableRun } from '../../../lib/errors/errors.ts'
import type { Log } from '../../../lib/log.ts'
import type { ResponseEnd, Responses, UnfinishedRun } from '../../../storage/ports/responses.ts'
import type { Ledger } from '../../../storage/ports/ledger.ts'
import type { KeyDirectory } from '../../../storage/ports/key-directory.ts'
import { encodeEvents } from '../events/event-log.ts'
import { type RunEvent, type RunUsage, toRunEnd } from '../events/run-event.ts'
import type { Write } from '../../../storage/ports/writes.ts'
import type { Run } from './run.ts'
import { type DamagedRun, type StoredRequest, type StoredRun, toStoredRun } from './stored-run.ts'

/** What the recovery depends on. */
export type RecoveryDependencies = {
  readonly responses: Responses
  readonly ledger: Ledger
  readonly limits: RateLimits
  readonly keys: KeyDirectory
  readonly models: () => Models
  readonly log: Log
}

/** The background runs that an earlier process left unfinished. */
export type Recovered = {
  /** The queued runs in their order; they are to be queued again. */
  readonly queued: readonly Run[]
  /** The number of started or damaged runs: they have failed, and their usage up to then is settled. */
  readonly failed: number
}

const pageSize = 100

/** Runs at the start of the process, before any other settlement and before any request. */
export async function recoverRuns(parts: RecoveryDependencies): Promise<Recovered> {
  const waiting: Run[] = []
  let failed = 0
  for (let after = ''; ;) {
    const found = await parts.responses.unfinished(after, pageSize)
    const last = found.at(-1)
    if (last === undefined) return { queued: waiting, failed }
    const ends: Promise<void>[] = []
    for (const run of found.map(toStoredRun)) {
      if (run.live === undefined) ends.push(failDamaged(run, parts))
      else if (run.row.status === 'queued') waiting.push(await toQueuedRun(run, parts))
      else ends.push(settleInterrupted(run, parts))
    }
    await Promise.all(ends)
    failed += ends.length
    after = last.id
  }
}

/** Converts the row of a queued run; the tokens that it has reserved are unknown. */
export async function toQueuedRun(
  { row, live, order }: StoredRun,
  { keys, limits }: RecoveryDependencies,
): Promise<Run> {
  const { facts: metadata } = order
  const organization = (await keys.find(metadata.key))?.organization
  // Without an organization the run fails when it is its turn.
  const owner = organization ?? { id: row.organization, name: '', billing: 'none', limits: noLimits }
  return { live, metadata, slot: limits.resume(owner) }
}

const noLimits = { requestsPerMinute: null, tokensPerMinute: null, concurrentRequests: null }

/** Settles a run whose process was killed: it has failed, and its usage up to then is charged. */
export async function settleInterrupted(
  { row, live, order }: StoredRun,
  parts: RecoveryDependencies,
): Promise<void> {
  // The event may have been emitted before the first checkpoint stored it.
  if (live.state.status === 'queued') live.apply({ type: 'started' })
  const usage = usageOf(order, live.events)
  const finished = live.toResponseEnd(toRunEnd(interrupted(), usage))
  const outcome = {
    ...interruption(order, usage, parts),
    provider: live.state.provider ?? undefined,
  }
  await settleWith(order, outcome, finishing(row, finished), parts)
}

/**
 * Ends a run that cannot be read. One that was not started costs nothing; a started one costs its prompt, because its
 * output is unknown.
 */
export async function failDamaged({ row, order }: DamagedRun, parts: RecoveryDependencies): Promise<void> {
  parts.log.error('A background run failed because its stored state cannot be read.', {
    response: row.id,
  })
  const end = toRunEnd(unreadableRun(), null)
  const finished = { status: 'failed', log: encodeEvents([{ type: 'created' }, end]) } as const
  const finish = finishing(row, finished)
  // Without an order, `ledger.recover` finds and settles its reservation afterwards.
  if (order === undefined) return await parts.ledger.write(finish)
  const begun = row.status === 'in_progress'
  const outcome = begun ? interruption(order, usageOf(order, []), parts) : outcomeOf(unreadableRun())
  await settleWith(order, outcome, finish, parts)
}

function finishing({ organization, id }: UnfinishedRun, end: ResponseEnd): readonly Write[] {
  return [{ kind: 'finish-response', organization, id, end }]
}

/** `finish` is executed in the same transaction, or in one of its own if the usage was recorded before. */
async function settleWith(
  { facts: metadata }: StoredRequest,
  outcome: Outcome,
  finish: readonly Write[],
  { ledger }: RecoveryDependencies,
): Promise<void> {
  const { recorded } = await ledger.settle(metadata, outcome, { writes: finish })
  if (!recorded) await ledger.write(finish)
}

function interruption(
  { facts: metadata, images }: StoredRequest,
  usage: RunUsage,
  { models }: RecoveryDependencies,
): Outcome {
  const pricing = metadata.model === undefined ? undefined : models().find(metadata.model)?.pricing
  // The status of the provider's response is unknown.
  return { usage, cost: pricing && costOf(usage, pricing, images), status: 0, error: 'interrupted' }
}

/** An estimate from the prompt and the stored output. */
function usageOf({ promptTokens }: StoredRequest, events: readonly RunEvent[]): RunUsage {
  const lengthOf = (type: 'text' | 'reasoning' | 'call-delta') =>
    events.reduce((sum, event) => (event.type === type ? sum + event.text.length : sum), 0)
  const reasoning = lengthOf('reasoning')
  return {
    promptTokens,
    completionTokens: estimateTokens(lengthOf('text') + lengthOf('call-delta') + reasoning),
    reasoningTokens: estimateTokens(reasoning),
    estimated: true,
  }
}
