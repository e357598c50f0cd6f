import type { RequestMetadata } from '../domain/accounting/request-metadata.ts'
import { gatewayStopping } from '../lib/errors/errors.ts'
import { providerKeyMissing } from '../lib/errors/upstream-errors.ts'
import { logFailedSettlement } from './billing/billing.ts'
import { estimatedPrompt } from './billing/estimate.ts'
import { failureOutcome } from './billing/outcome.ts'
import { costBoundOf } from './billing/cost-bound.ts'
import { Call } from './call.ts'
import type {
  Gateway,
  GatewayParts,
  GenerateRequest,
  GenerationStream,
  ReservationRequest,
} from './gateway.ts'
import type { QueuedSlot } from './rate-limits/admission.ts'
import { openWithFailover } from './routing/failover.ts'

/**
 * Asks the model's routes in turn until one begins to answer. The answer is handed over when its first event is
 * there, so that a failure before it is thrown here, and the next route tried. Where no calls are taken any more, only
 * those are asked that were booked.
 */
export function createGateway(parts: GatewayParts): Gateway {
  const { billing, calls, observer } = parts
  return {
    generate: (request) =>
      calls.refusing() && !request.reserved
        ? rejectStopping(request.facts, parts)
        : generateMetered(request, parts),
    reserve: (booking, write) =>
      calls.refusing() ? rejectStopping(booking.facts, parts) : reserveCall(booking, write, parts),
    async settleUnsent(facts, error, write) {
      await billing.settleEventually(facts, failureOutcome(error), write)
      observer?.call(facts, true).callEnded(failureOutcome(error))
    },
    recordRejected: (facts, error) => recordRejected(facts, error, parts),
  }
}

async function rejectStopping(facts: RequestMetadata, parts: GatewayParts): Promise<never> {
  const error = gatewayStopping()
  await recordRejected(facts, error, parts)
  throw error
}

async function recordRejected(
  facts: RequestMetadata,
  error: unknown,
  { billing, observer, log }: GatewayParts,
): Promise<void> {
  observer?.requestSeen(facts)
  await billing.settle(facts, failureOutcome(error)).catch(logFailedSettlement(log))
}

async function reserveCall(
  booking: ReservationRequest,
  write: () => void,
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
    await books.reserve(facts, billing, () => costBoundOf(generation, model, promptTokens), write)
    return queued
  } catch (error) {
    queued?.drop()
    await books.settle(facts, failureOutcome(error)).catch(logFailedSettlement(log))
    throw error
  }
}

/** Sees to it that the call is settled once, however it ends. */
async function generateMetered(request: GenerateRequest, parts: GatewayParts): Promise<GenerationStream> {
  const call = new Call(request, parts)
  const { model } = request
  try {
    // Its end is in the books already: what is taken from now on would never be given back.
    if (call.abortSource.aborted) throw call.abortSource.reason
    if (model.keyMissing) throw providerKeyMissing(model.keyMissing)
    const pending = call.reserve()
    if (pending) await pending
    return await openWithFailover(call, parts)
  } catch (error) {
    await call.settle(error).catch(logFailedSettlement(parts.log))
    throw error
  }
}
