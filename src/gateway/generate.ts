import { gatewayStopping } from '../lib/errors/errors.ts'
import { providerKeyMissing } from '../lib/errors/upstream-errors.ts'
import type { RequestMetadata } from '../domain/accounting/request-metadata.ts'
import type { Write } from '../storage/ports/writes.ts'
import { Call } from './call.ts'
import { openWithFailover } from './routing/failover.ts'
import type {
  GenerationStream,
  ReservationRequest,
  Gateway,
  GatewayParts,
  GenerateRequest,
} from './gateway.ts'
import type { QueuedSlot } from './rate-limits/admission.ts'
import { logFailedSettlement } from './billing/log-failed-settlement.ts'
import { estimatedPrompt } from './billing/estimate.ts'
import { failureOutcome } from './billing/outcome.ts'
import { costBoundOf } from './billing/reservation.ts'

/**
 * Asks the model's routes in turn until one begins to answer. The answer is handed over when its first event is
 * there, so that a failure before it is thrown here, and the next route tried. Where no calls are taken any more, only
 * those are asked that were booked.
 */
export function createGateway(parts: GatewayParts): Gateway {
  const { billing, calls, observer } = parts
  return {
    generate: (question) =>
      calls.refusing() && !question.reserved
        ? refused(question.facts, parts)
        : accountedAnswer(question, parts),
    reserve: (booking, writes) =>
      calls.refusing() ? refused(booking.facts, parts) : bookedCall(booking, writes, parts),
    async settleUnsent(facts, error, writes) {
      await billing.settleEventually(facts, failureOutcome(error), writes)
      observer?.call(facts, true).callEnded(failureOutcome(error))
    },
    recordRejected: (facts, error) => turnedAway(facts, error, parts),
  }
}

async function refused(facts: RequestMetadata, parts: GatewayParts): Promise<never> {
  const error = gatewayStopping()
  await turnedAway(facts, error, parts)
  throw error
}

async function turnedAway(
  facts: RequestMetadata,
  error: unknown,
  { billing, observer, log }: GatewayParts,
): Promise<void> {
  observer?.requestSeen(facts)
  await billing.settle(facts, failureOutcome(error)).catch(logFailedSettlement(log))
}

async function bookedCall(
  booking: ReservationRequest,
  writes: readonly Write[],
  parts: GatewayParts,
): Promise<QueuedSlot> {
  const { billing: books, log } = parts
  const { facts, billing, admission, model, generation } = booking
  parts.observer?.requestSeen(facts)
  let queued: QueuedSlot | undefined
  try {
    if (model.keyMissing) throw providerKeyMissing(model.keyMissing)
    const promptTokens = estimatedPrompt(generation)
    queued = admission.queue(promptTokens)
    await books.reserve(facts, billing, () => costBoundOf(generation, model, promptTokens), writes)
    return queued
  } catch (error) {
    queued?.drop()
    await books.settle(facts, failureOutcome(error)).catch(logFailedSettlement(log))
    throw error
  }
}

/** Sees to it that the call is settled once, however it ends. */
async function accountedAnswer(question: GenerateRequest, parts: GatewayParts): Promise<GenerationStream> {
  const call = new Call(question, parts)
  const { model } = question
  try {
    // Its end is in the books already: what is taken from now on would never be given back.
    if (call.stop.aborted) throw call.stop.reason
    if (model.keyMissing) throw providerKeyMissing(model.keyMissing)
    const opened = call.open()
    if (opened) await opened
    return await openWithFailover(call, parts)
  } catch (error) {
    await call.over(error).catch(logFailedSettlement(parts.log))
    throw error
  }
}
