import type { GenerationEvent } from '../../../domain/generation/events.ts'
import type { GenerateRequest } from '../../../gateway/gateway.ts'
import type { ConcurrencySlot } from '../../../gateway/rate-limits/admission.ts'
import { untilStored } from '../../../storage/ports/until-stored.ts'
import type { Write } from '../../../storage/ports/writes.ts'
import { endOf, type RunEnd, toRunEvent } from '../events/run-event.ts'
import type { LiveResponse } from '../live/live-response.ts'
import { prepare } from '../request/prepare-request.ts'
import { readRun } from './read-run.ts'
import { ownerOf } from './run-owner.ts'
import type { Run, RunParts } from './run.ts'

/** What may end a run from outside. */
export type RunSignals = {
  /** Ends it, with the reason that is given. */
  readonly abort: AbortSignal
  /** The process ends: what could not be stored until then is left to the next one. */
  readonly abandoned: AbortSignal
}

/** Asks the model for a run whose turn it is, and resolves when its end is stored, whatever that is. */
export async function executeRun(
  run: Run,
  call: ConcurrencySlot,
  signals: RunSignals,
  parts: RunParts,
): Promise<void> {
  const { live } = run
  const course: Course = { ending: undefined }
  try {
    const begins = () => parts.responses.start(live.organization, live.id)
    if (await untilStored(begins, signals.abort)) await answer(run, call, signals.abort, course, parts)
    else live.apply({ type: 'cancelled', usage: null })
  } catch (error) {
    await storeEnd(run, error, course, signals.abandoned, parts)
  } finally {
    call.close(0)
    parts.live.remove(live)
  }
}

/** Ends a run whose turn did not come, and resolves when that is stored. */
export async function dropRun(
  run: Run,
  error: unknown,
  abandoned: AbortSignal,
  parts: RunParts,
): Promise<void> {
  try {
    await storeEnd(run, error, { ending: undefined }, abandoned, parts)
  } finally {
    run.call.drop()
    parts.live.remove(run.live)
  }
}

/** How the call ended, once it has. */
type Course = { ending: RunEnd | undefined }

async function answer(
  run: Run,
  call: ConcurrencySlot,
  signal: AbortSignal,
  course: Course,
  parts: RunParts,
): Promise<void> {
  const { live } = run
  live.apply({ type: 'started' })
  // It is tried again while the database is away, and while the gateway holds too much.
  const question = await untilStored(() => questionOf(run, call, signal, parts), signal)
  const ended: GenerateRequest['onSettled'] = (error, used) => {
    course.ending = endOf(error, used.promptTokens + used.completionTokens > 0 ? used : null)
    return finishing(run, course.ending)
  }
  const answering = await parts.current().gateway.generate({ ...question, onSettled: ended })
  const { provider, warnings } = answering
  if (!course.ending) live.apply({ type: 'answering', provider, warnings })
  await answering.each((batch) => {
    // What comes behind the end that is being stored is not in it.
    if (!course.ending) for (const event of batch) hear(event, live)
    return undefined
  })
  // The events end after it is known how.
  if (course.ending) live.apply(course.ending)
}

function hear(event: GenerationEvent, live: LiveResponse): void {
  const happened = toRunEvent(event)
  if (happened) live.apply(happened)
}

/** The question as it is when the run begins: the model may have other routes by then, or be gone. */
async function questionOf(
  run: Run,
  call: ConcurrencySlot,
  signal: AbortSignal,
  parts: RunParts,
): Promise<GenerateRequest> {
  const { live, facts } = run
  const { request, conversation } = await readRun(
    live.organization,
    live.id,
    parts.responses,
    call.memory.holdAtLeast,
  )
  const { models, unsupported } = parts.current()
  const { model, generation } = prepare(request, conversation, models(), unsupported)
  const organization = ownerOf(facts, parts.keys)
  const admission = { open: () => call, queue: () => run.call }
  return {
    facts,
    billing: organization.billing,
    admission,
    reserved: call,
    model,
    generation,
    stream: true,
    signal,
  }
}

/** The write that stores this end of the run. */
function finishing({ live }: Run, end: RunEnd): readonly Write[] {
  const { organization, id } = live
  return [{ kind: 'finish-response', organization, id, end: live.endedBy(end) }]
}

/** A call that was made has told its end; one that could not be made ends with what kept it from being made. */
async function storeEnd(
  run: Run,
  error: unknown,
  { ending }: Course,
  abandoned: AbortSignal,
  parts: RunParts,
): Promise<void> {
  const end = ending ?? endOf(error, null)
  const finish = finishing(run, end)
  const again = () => untilStored(() => parts.write(finish), abandoned)
  if (ending) await again()
  else await parts.current().gateway.settleUnsent(run.facts, error, finish).catch(again)
  run.live.apply(end)
}
