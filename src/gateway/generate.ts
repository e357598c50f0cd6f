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
 * Creates the gateway. `generate` tries the model's routes in turn until one begins to respond; its promise
 * resolves with the first event, so that a failure before it rejects the promise, or leads to the next route.
 * While the gateway is shutting down, only reserved calls run.
 */
export function createGateway(parts: GatewayParts): Gateway {
  const { billing, calls, observer } = parts
  return {
    generate: (request) =>
      calls.refusing() && !request.reserved
        ? rejectStopping(request.facts, parts)
        : generateMetered(request, parts),
    reserve: (reservation, write) =>
      calls.refusing() ? rejectStopping(reservation.facts, parts) : reserveCall(reservation, write, parts),
    async settleUnsent(metadata, error, write) {
      await billing.settleEventually(metadata, failureOutcome(error), write)
      observer?.call(metadata, true).callEnded(failureOutcome(error))
    },
    recordRejected: (metadata, error) => recordRejected(metadata, error, parts),
  }
}

async function rejectStopping(metadata: RequestMetadata, parts: GatewayParts): Promise<never> {
  const error = gatewayStopping()
  await recordRejected(metadata, error, parts)
  throw error
}

async function recordRejected(
  metadata: RequestMetadata,
  error: unknown,
  { billing, observer, log }: GatewayParts,
): Promise<void> {
  observer?.requestSeen(metadata)
  await billing.settle(metadata, failureOutcome(error)).catch(logFailedSettlement(log))
}

async function reserveCall(
  reservation: ReservationRequest,
  write: () => void,
  parts: GatewayParts,
): Promise<QueuedSlot> {
  const { observer, log } = parts
  const { facts: metadata, billing, admission, model, generation } = reservation
  observer?.requestSeen(metadata)
  let queued: QueuedSlot | undefined
  try {
    if (model.keyMissing) throw providerKeyMissing(model.keyMissing)
    const promptTokens = estimatedPrompt(generation)
    queued = admission.queue(promptTokens)
    await parts.billing.reserve(metadata, billing, () => costBoundOf(generation, model, promptTokens), write)
    return queued
  } catch (error) {
    queued?.drop()
    await parts.billing.settle(metadata, failureOutcome(error)).catch(logFailedSettlement(log))
    throw error
  }
}

/** Runs the call, and settles it exactly once if it fails before its stream is returned. */
async function generateMetered(request: GenerateRequest, parts: GatewayParts): Promise<GenerationStream> {
  const call = new Call(request, parts)
  const { model } = request
  try {
    // The call is settled already: what it would take from now on would never be released.
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
