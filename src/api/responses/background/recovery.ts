import type { Outcome } from '../../../domain/accounting/outcome.ts'
import { estimatedTokens } from '../../../gateway/billing/estimate.ts'
import { failureOutcome as outcomeOf } from '../../../gateway/billing/outcome.ts'
import { costOf } from '../../../gateway/billing/price.ts'
import type { Models } from '../../../gateway/models/model.ts'
import type { RateLimits } from '../../../gateway/rate-limits/rate-limits.ts'
import { interrupted, unreadableRun } from '../../../lib/errors/errors.ts'
import type { Log } from '../../../lib/log.ts'
import type { ResponseEnd, Responses, UnfinishedRun } from '../../../storage/ports/responses.ts'
import type { Write } from '../../../storage/ports/writes.ts'
import type { Ledger } from '../../../storage/ports/ledger.ts'
import type { KeyDirectory } from '../../../storage/ports/key-directory.ts'
import { encodeEvents } from '../events/log.ts'
import { endOf, type RunEvent, type RunUsage } from '../events/run-event.ts'
import type { RunOrder } from './run-order.ts'
import type { Run } from './run.ts'
import { type DamagedRun, type StoredRun, toStoredRun } from './stored-run.ts'

export type RecoveryParts = {
  readonly responses: Responses
  readonly ledger: Ledger
  readonly limits: RateLimits
  readonly keys: KeyDirectory
  readonly models: () => Models
  readonly log: Log
}

/** What an earlier process has left of its background runs. */
export type Recovered = {
  /** Those that were waiting, in their order: they still are. */
  readonly waiting: readonly Run[]
  /** How many were under way: they have failed, like those that cannot be read, and what they took up to then is settled. */
  readonly failed: number
}

/** How many are read at a time. */
const page = 100

/** For the start, before anything else is settled and before any request. */
export async function recoverRuns(parts: RecoveryParts): Promise<Recovered> {
  const waiting: Run[] = []
  let failed = 0
  for (let after = ''; ;) {
    const found = await parts.responses.unfinished(after, page)
    const last = found.at(-1)
    if (last === undefined) return { waiting, failed }
    const ends: Promise<void>[] = []
    for (const run of found.map(toStoredRun)) {
      if (run.live === undefined) ends.push(failDamaged(run, parts))
      else if (run.row.status === 'queued') waiting.push(waitingRun(run, parts))
      else ends.push(settleInterrupted(run, parts))
    }
    await Promise.all(ends)
    failed += ends.length
    after = last.id
  }
}

function waitingRun({ row, live, order }: StoredRun, { keys, limits }: RecoveryParts): Run {
  const { facts } = order
  const organization = keys.find(facts.key)?.organization
  // Without one it is gone, and the run goes with it when its turn comes.
  const owner = organization ?? { id: row.organization, name: '', billing: 'none', limits: noLimits }
  return { live, facts, call: limits.resume(owner) }
}

const noLimits = { requestsPerMinute: null, tokensPerMinute: null, concurrentRequests: null }

async function settleInterrupted({ row, live, order }: StoredRun, parts: RecoveryParts): Promise<void> {
  // It was told, perhaps, before the first piece of the log was stored.
  if (live.state.status === 'queued') live.apply({ type: 'started' })
  const usage = usageOf(order, live.events)
  const finished = live.endedBy(endOf(interrupted(), usage))
  const outcome = {
    ...interruption(order, usage, parts),
    provider: live.state.provider ?? undefined,
  }
  await settleWith(order, outcome, finishing(row, finished), parts)
}

/** One that had not begun costs nothing; of another one nothing is known but that it was sent. */
async function failDamaged({ row, order }: DamagedRun, parts: RecoveryParts): Promise<void> {
  parts.log.error('A background run has failed, because what was stored of it cannot be read.', {
    response: row.id,
  })
  const end = endOf(unreadableRun(), null)
  const finished = { status: 'failed', log: encodeEvents([{ type: 'created' }, end]) } as const
  const finish = finishing(row, finished)
  // Money that was reserved for it is found where it is reserved.
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
  { facts }: RunOrder,
  outcome: Outcome,
  finish: readonly Write[],
  { ledger }: RecoveryParts,
): Promise<void> {
  const { recorded } = await ledger.settle(facts, outcome, { writes: finish })
  if (!recorded) await ledger.write(finish)
}

function interruption({ facts, images }: RunOrder, usage: RunUsage, { models }: RecoveryParts): Outcome {
  const pricing = facts.model === undefined ? undefined : models().find(facts.model)?.pricing
  // Nobody can know the status.
  return { usage, cost: pricing && costOf(usage, pricing, images), status: 0, error: 'interrupted' }
}

/** What was asked, and what was stored of the answer. */
function usageOf({ promptTokens }: RunOrder, events: readonly RunEvent[]): RunUsage {
  const lengthOf = (type: 'text' | 'reasoning') =>
    events.reduce((sum, event) => (event.type === type ? sum + event.text.length : sum), 0)
  const reasoning = lengthOf('reasoning')
  return {
    promptTokens,
    completionTokens: estimatedTokens(lengthOf('text') + reasoning),
    reasoningTokens: estimatedTokens(reasoning),
    estimated: true,
  }
}
