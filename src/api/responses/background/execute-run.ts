import { allowedModels } from '../../../gateway/models/allowed-models.ts'
import type { GenerateRequest, Restart } from '../../../gateway/generate-request.ts'
import type { ConcurrencySlot } from '../../../gateway/rate-limits/admission.ts'
import { retryWhileUnavailable } from '../../../storage/ports/health.ts'
import { decodeEvents } from '../events/event-log.ts'
import { isRunEnd, type RunEnd, toRunEnd } from '../events/run-event.ts'
import type { LiveResponse } from '../live/live-response.ts'
import type { Write } from '../../../storage/ports/ledger.ts'
import { prepareRequest } from '../request/lower.ts'
import type { RunContext } from './owned-runs.ts'
import { requireRunOwner, type Run } from './run.ts'
import { readRun, withPrices } from './stored-run.ts'

/** The signals that end a run from outside. */
type RunSignals = {
  /** Ends the run; its reason is the error of the run. */
  readonly abort: AbortSignal
  /** The process stops: the next process ends the runs whose end could not be stored until then. */
  readonly abandoned: AbortSignal
}

/** Executes a run; resolves when its end is stored, with or without an error. */
export async function executeRun(
  run: Run,
  slot: ConcurrencySlot,
  signals: RunSignals,
  parts: RunContext,
): Promise<void> {
  const { live } = run
  const { owned } = parts
  const progress: CallProgress = { ending: undefined }
  let started = false
  try {
    started = await retryWhileUnavailable(() => owned.start(live), signals.abort)
    if (started) await generate(run, slot, signals.abort, progress, parts)
    else if (isCancelled(signals.abort))
      await endUnstarted(run, signals.abort.reason, signals.abandoned, parts)
    // Another process has it, or it was deleted.
    else owned.forget(live)
  } catch (error) {
    if (started) await storeEnd(run, error, progress, signals.abandoned, parts)
    else await endUnstarted(run, error, signals.abandoned, parts)
  } finally {
    slot.release(0)
    parts.live.remove(live)
  }
}

/** Whether a client has cancelled the run just before its start, which the store has rejected for that reason. */
function isCancelled({ aborted, reason }: AbortSignal): boolean {
  return aborted && toRunEnd(reason, null).type === 'cancelled'
}

/** Ends a run that was not started; resolves with true when its end is stored, with false if another process has the run. */
export async function dropRun(
  run: Run,
  error: unknown,
  abandoned: AbortSignal,
  parts: RunContext,
): Promise<boolean> {
  try {
    return await endUnstarted(run, error, abandoned, parts)
  } finally {
    run.slot.release()
    parts.live.remove(run.live)
  }
}

async function endUnstarted(
  run: Run,
  error: unknown,
  abandoned: AbortSignal,
  parts: RunContext,
): Promise<boolean> {
  const { live } = run
  const withdrawn = await retryWhileUnavailable(() => parts.owned.withdraw(live), abandoned)
  if (withdrawn) await storeEnd(run, error, { ending: undefined }, abandoned, parts)
  else parts.owned.forget(live)
  return withdrawn
}

/** The end of the call, once it has one. */
type CallProgress = { ending: RunEnd | undefined }

async function generate(
  run: Run,
  slot: ConcurrencySlot,
  signal: AbortSignal,
  progress: CallProgress,
  parts: RunContext,
): Promise<void> {
  const { live } = run
  live.apply({ type: 'started' })
  // The recovery of a run in progress adds this event where its log ends before it.
  live.markStored()
  // Retries while the database is unavailable, and while the memory budget is exhausted.
  const request = await retryWhileUnavailable(() => toGenerateRequest(run, slot, signal, parts), signal)
  const ended: GenerateRequest['onSettled'] = (error, used) => {
    progress.ending = toRunEnd(error, used.promptTokens + used.completionTokens > 0 ? used : null)
    return finishing(run, progress.ending)
  }
  const restart = restartOf(live, parts)
  const stream = await parts.current().gateway.generate({ ...request, onSettled: ended, restart })
  const { provider, warnings } = stream
  if (!progress.ending) live.apply({ type: 'answering', provider, warnings })
  await stream.forEach((batch) => {
    // Later events are not in the log that is being stored with the end.
    if (!progress.ending) for (const event of batch) live.applyGenerated(event)
    return undefined
  })
  // `onSettled` is called before the stream ends.
  if (progress.ending) live.apply(progress.ending)
}

/** An answer that breaks off starts again while nothing of it can have reached a client, here or in another process. */
function restartOf(live: LiveResponse, { peers }: RunContext): Restart {
  return {
    isPossible() {
      if (peers.count() > 1) live.markSeen(live.readable)
      return live.canRestart()
    },
    discard: () => live.restart(),
    begin: (provider, warnings) => void live.apply({ type: 'restarted', provider, warnings }),
  }
}

/** Made when the run starts: by then, the model may have other routes and prices, or may have been removed. */
async function toGenerateRequest(
  run: Run,
  slot: ConcurrencySlot,
  signal: AbortSignal,
  parts: RunContext,
): Promise<GenerateRequest> {
  const { live, metadata } = run
  const { request, conversation, prices } = await readRun(
    live.organization,
    live.id,
    parts.responses,
    slot.memory.acquireUpTo,
  )
  const current = parts.current()
  const { organization, limits } = await requireRunOwner(metadata, parts.keys)
  const models = allowedModels(current.models(), limits.models)
  const { model, generation } = prepareRequest(request, conversation, models, current)
  const admission = { memory: slot.memory, open: () => slot, queue: () => run.slot }
  return {
    metadata,
    billing: organization.billing,
    // It was reserved when it was queued.
    budgets: [],
    admission,
    reserved: slot,
    // The name may be that of another model by now.
    model: model.slug === metadata.model ? withPrices(model, prices) : model,
    generation,
    content: metadata.contentLog && { ...request, input: conversation.input },
    stream: true,
    signal,
  }
}

/** The write that stores this end of the run. */
function finishing({ live }: Run, end: RunEnd): readonly Write[] {
  const { organization, id } = live
  return [{ kind: 'finish-response', organization, id, end: live.toResponseEnd(end) }]
}

/** Stores the end of a run: the one that its call reported, or the error that kept the call from being made. */
async function storeEnd(
  run: Run,
  error: unknown,
  { ending }: CallProgress,
  abandoned: AbortSignal,
  parts: RunContext,
): Promise<void> {
  const end = ending ?? toRunEnd(error, null)
  const finish = finishing(run, end)
  const retry = () => retryWhileUnavailable(() => parts.ledger.write(finish), abandoned)
  if (ending) await retry()
  else await parts.current().gateway.settleUnsent(run.metadata, error, finish).catch(retry)
  await applyStoredEnd(run, end, abandoned, parts)
}

/** Applies the end that is stored, because another process may have ended the run before; its own if it is deleted. */
async function applyStoredEnd(
  { live }: Run,
  end: RunEnd,
  abandoned: AbortSignal,
  parts: RunContext,
): Promise<void> {
  const find = () => parts.responses.find(live.organization, live.id)
  const stored = await retryWhileUnavailable(find, abandoned)
  const events = stored === undefined ? [] : decodeEvents(stored.log)
  const last = events.at(-1)
  if (last !== undefined && isRunEnd(last)) live.endAs(events)
  else live.apply(end)
}
