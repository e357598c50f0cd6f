import type { Limits } from '../../gateway/limits/limits.ts'
import type { Models } from '../../gateway/models/model.ts'
import { estimatedTokens } from '../../gateway/money/estimate.ts'
import { costOf } from '../../gateway/money/price.ts'
import { interrupted } from '../../lib/errors.ts'
import type { KeyDirectory } from '../../storage/key-directory.ts'
import type { Ledger } from '../../storage/ledger.ts'
import type { Responses, UnfinishedRun } from '../../storage/responses.ts'
import { LiveResponse } from '../live-response.ts'
import { decodeEvents } from '../reduce/log.ts'
import type { Run } from './run.ts'
import { endOf } from '../reduce/run-end.ts'
import type { RunEvent, RunUsage } from '../reduce/run-event.ts'
import { orderIn, type RunOrder } from './run-order.ts'
import { headIn } from '../stored-response.ts'

export type RecoveryParts = {
  readonly responses: Responses
  readonly ledger: Ledger
  readonly limits: Limits
  readonly keys: KeyDirectory
  readonly models: () => Models
}

/** What an earlier process has left of its background runs. */
export type Recovered = {
  /** Those that were waiting, in their order: they still are. */
  readonly waiting: readonly Run[]
  /** How many were under way: they have failed, and what they took up to then is settled. */
  readonly failed: number
}

/** How many are read at a time. */
const page = 100

/** For the start, before anything else is settled and before any request. */
export async function recoverRuns(parts: RecoveryParts): Promise<Recovered> {
  const waiting: Run[] = []
  let failed = 0
  for (let after = ''; ;) {
    const found = parts.responses.unfinished(after, page)
    const last = found.at(-1)
    if (last === undefined) return { waiting, failed }
    const left = found.filter(({ status }) => status === 'in_progress')
    await Promise.all(left.map((run) => settleInterrupted(run, parts)))
    failed += left.length
    waiting.push(...found.filter(({ status }) => status === 'queued').map((run) => waitingRun(run, parts)))
    after = last.id
  }
}

function waitingRun(stored: UnfinishedRun, { keys, limits }: RecoveryParts): Run {
  const { facts } = orderIn(stored.run)
  const organization = keys.find(facts.key)?.organization
  // Without one it is gone, and the run goes with it when its turn comes.
  const owner = organization ?? { id: stored.organization, name: '', billing: 'none', limits: noLimits }
  return { live: liveAgain(stored), facts, call: limits.resume(owner) }
}

const noLimits = { requestsPerMinute: null, tokensPerMinute: null, concurrentRequests: null }

function liveAgain({ organization, head, log }: UnfinishedRun): LiveResponse {
  const live = new LiveResponse(organization, headIn(head))
  for (const event of decodeEvents(log)) live.apply(event)
  return live
}

async function settleInterrupted(stored: UnfinishedRun, parts: RecoveryParts): Promise<void> {
  const live = liveAgain(stored)
  // It was told, perhaps, before the first piece of the log was stored.
  if (live.state.status === 'queued') live.apply({ type: 'started' })
  const order = orderIn(stored.run)
  const usage = usageOf(order, live.events)
  const finished = live.endedBy(endOf(interrupted(), usage))
  const pricing =
    order.facts.model === undefined ? undefined : parts.models().find(order.facts.model)?.pricing
  const outcome = {
    provider: live.state.provider ?? undefined,
    usage,
    cost: pricing && costOf(usage, pricing, order.images),
    // Nobody can know it.
    status: 0,
    error: 'interrupted',
  }
  const finish = () => void parts.responses.finish(stored.organization, stored.id, finished)
  const { recorded } = await parts.ledger.settle(order.facts, outcome, { alongside: finish })
  // Its usage was written, and its end was not.
  if (!recorded) await parts.ledger.write(finish)
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
