import { noLimits } from '../../../domain/accounting/allowance.ts'
import type { Outcome } from '../../../domain/accounting/request-metadata.ts'
import { callerLimits, noCallerLimits } from '../../../gateway/access/caller-limits.ts'
import { estimateTokens } from '../../../gateway/billing/estimate.ts'
import { failureOutcome as outcomeOf } from '../../../gateway/billing/outcome.ts'
import { costOf } from '../../../gateway/billing/price.ts'
import { interrupted, runCancelled, unreadableRun } from '../../../lib/errors/errors.ts'
import { causeOf } from '../../../lib/log.ts'
import { isUnavailable, retryWhileUnavailable } from '../../../storage/ports/health.ts'
import type { ClaimedRun, RunKey, UnfinishedRun } from '../../../storage/ports/run-store.ts'
import type { Write } from '../../../storage/ports/ledger.ts'
import { encodeEvents } from '../events/event-log.ts'
import { type RunEvent, type RunUsage, toRunEnd } from '../events/run-event.ts'
import type { RunContext } from './owned-runs.ts'
import type { Run } from './run.ts'
import { type DamagedRun, parseRun, type StoredRequest, type StoredRun } from './stored-run.ts'

/** Where the queued runs go. */
type AdoptedRuns = {
  add(run: Run): void
  /** Ends a run that is not to be started. */
  drop(run: Run, error: unknown): void
}

type AdoptDependencies = Pick<RunContext, 'current' | 'owned' | 'runs' | 'ledger' | 'limits' | 'keys' | 'log'>

/** Whether a run was adopted as a queued one, is executed by this process already, or has failed. */
type Adopted = 'queued' | 'running' | 'failed'

/**
 * Adopts runs that this process has claimed: queued ones are queued here, those in progress have failed, because their
 * process has ended. Retries while the database is unavailable until the signal aborts; without one, rejects at once.
 */
export class RunAdoption {
  readonly #parts: AdoptDependencies
  readonly #target: AdoptedRuns
  readonly #adopting = new Set<string>()

  constructor(parts: AdoptDependencies, target: AdoptedRuns) {
    this.#parts = parts
    this.#target = target
  }

  /** Whether a run is being adopted at this moment. */
  has(id: string): boolean {
    return this.#adopting.has(id)
  }

  /** Adopts runs that the process has claimed under this id; resolves when each is queued, or its end is stored. */
  adopt(owner: string, claimed: readonly RunKey[], stopped?: AbortSignal): Promise<void> {
    return this.#each(owner, claimed, stopped, (row) => this.#queueOrFail(owner, row))
  }

  /**
   * Fails runs that an evicted process has started, and this one has claimed; resolves when their ends are stored. The queue
   * may still have them, from the time before that process claimed them: they are not started.
   */
  fail(owner: string, claimed: readonly RunKey[], stopped?: AbortSignal): Promise<void> {
    return this.#each(owner, claimed, stopped, (row) => this.#fail(owner, parseRun(row)))
  }

  async #each(
    owner: string,
    claimed: readonly RunKey[],
    stopped: AbortSignal | undefined,
    step: (row: ClaimedRun) => Promise<Adopted>,
  ): Promise<void> {
    if (claimed.length === 0) return
    const { runs } = this.#parts
    for (const { id } of claimed) this.#adopting.add(id)
    try {
      const rows = await retry(() => runs.read(owner, claimed), stopped)
      const attempt = (row: ClaimedRun) => this.#attempt(() => step(row), stopped)
      this.#logFailed(await Promise.all(rows.map(attempt)))
    } finally {
      for (const { id } of claimed) this.#adopting.delete(id)
    }
  }

  /** An error of one run does not keep the others from being adopted. */
  async #attempt(step: () => Promise<Adopted>, stopped: AbortSignal | undefined): Promise<Adopted> {
    try {
      return await retry(step, stopped)
    } catch (error) {
      if (isUnavailable(error) || stopped?.aborted) throw error
      this.#parts.log.error('A background run of another process could not be continued.', {
        cause: causeOf(error),
      })
      return 'queued'
    }
  }

  async #queueOrFail(owner: string, row: ClaimedRun): Promise<Adopted> {
    const stored = parseRun(row)
    if (stored.live === undefined) return await this.#fail(owner, stored)
    if (row.status === 'in_progress')
      return this.#parts.owned.has(row) ? 'running' : await this.#fail(owner, stored)
    const run = await toQueuedRun(stored, this.#parts)
    if (row.cancelRequested) this.#target.drop(run, runCancelled())
    else this.#target.add(run)
    return 'queued'
  }

  async #fail(owner: string, stored: StoredRun | DamagedRun): Promise<Adopted> {
    if (stored.live === undefined) await this.#failDamaged(owner, stored)
    else await settleInterrupted(stored, this.#parts)
    return 'failed'
  }

  async #failDamaged(owner: string, damaged: DamagedRun): Promise<void> {
    if (damaged.request !== undefined) return await failDamaged(damaged, this.#parts)
    // The claim has moved its reservation to this process, which does not know the request.
    await this.#parts.runs.leaveReservation(owner, damaged.row)
    await failDamaged(damaged, this.#parts)
    await this.#parts.ledger.recover()
  }

  #logFailed(results: readonly Adopted[]): void {
    const runs = results.filter((result) => result === 'failed').length
    if (runs === 0) return
    this.#parts.log.warn('Background runs of a process that was killed have failed.', { runs })
  }
}

function retry<T>(work: () => Promise<T>, stopped: AbortSignal | undefined): Promise<T> {
  return stopped ? retryWhileUnavailable(work, stopped) : work()
}

/** Converts the row of a queued run; the tokens that it has reserved are unknown. */
async function toQueuedRun(
  { row, live, request }: StoredRun,
  { keys, limits }: AdoptDependencies,
): Promise<Run> {
  const { facts: metadata } = request
  const key = await keys.find(metadata.key)
  const organization = key?.organization
  if (key && organization) {
    const slot = limits.resume({ organization, limits: callerLimits(key, organization) })
    return { live, metadata, slot }
  }
  // Without an organization the run fails when it is its turn.
  const missing = { id: row.organization, name: '', billing: 'none' as const, limits: noLimits }
  return { live, metadata, slot: limits.resume({ organization: missing, limits: noCallerLimits }) }
}

/** Settles a run whose process was killed: it has failed, and its usage up to then is charged. */
async function settleInterrupted({ row, live, request }: StoredRun, parts: AdoptDependencies): Promise<void> {
  // The event may have been emitted before the first checkpoint stored it.
  if (live.state.status === 'queued') live.apply({ type: 'started' })
  const usage = usageOf(request, live.events)
  const finish: Write = {
    kind: 'finish-response',
    organization: row.organization,
    id: row.id,
    end: live.toResponseEnd(toRunEnd(interrupted(), usage)),
  }
  const provider = live.state.provider ?? undefined
  await settleWith(request, { ...interruption(request, usage, parts), provider }, finish, parts)
}

/**
 * Ends a run that cannot be read. One that was not started costs nothing; a started one costs its prompt, because its
 * output is unknown.
 */
async function failDamaged({ row, request }: DamagedRun, parts: AdoptDependencies): Promise<void> {
  const { organization, id, status }: UnfinishedRun = row
  parts.log.error('A background run failed because its stored state cannot be read.', { response: id })
  const log = encodeEvents([{ type: 'created' }, toRunEnd(unreadableRun(), null)])
  const finish: Write = { kind: 'finish-response', organization, id, end: { status: 'failed', log } }
  // Without its request, `ledger.recover` finds and settles its reservation afterwards.
  if (request === undefined) return await parts.ledger.write([finish])
  const begun = status === 'in_progress'
  const outcome = begun ? interruption(request, usageOf(request, []), parts) : outcomeOf(unreadableRun())
  await settleWith(request, outcome, finish, parts)
}

/** `finish` is executed in the same transaction, or in one of its own if the usage was recorded before. */
async function settleWith(
  { facts: metadata }: StoredRequest,
  outcome: Outcome,
  finish: Write,
  { ledger }: AdoptDependencies,
): Promise<void> {
  const { recorded } = await ledger.settle(metadata, outcome, { writes: [finish] })
  if (!recorded) await ledger.write([finish])
}

function interruption(
  { facts: metadata, images, prices }: StoredRequest,
  usage: RunUsage,
  { current }: AdoptDependencies,
): Outcome {
  const model = metadata.model === undefined ? undefined : current().models().find(metadata.model)
  const pricing = prices?.pricing ?? model?.pricing
  const cost = pricing && costOf(usage, pricing, images)
  // The status of the provider's response is unknown.
  return { usage, cost, status: 0, error: 'interrupted', costUnknown: true }
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
