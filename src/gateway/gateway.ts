import type { RequestMetadata } from '../domain/accounting/request-metadata.ts'
import { ApiError, gatewayStopping } from '../lib/errors/errors.ts'
import { providerKeyMissing } from '../lib/errors/upstream-errors.ts'
import type { Write } from '../storage/ports/ledger.ts'
import { createUserHash, type UserHash } from './access/user-hash.ts'
import { logFailedSettlement } from './billing/billing.ts'
import { costBoundOf, requirePayable } from './billing/cost-bound.ts'
import { estimatePromptTokens } from './billing/estimate.ts'
import { failureOutcome } from './billing/outcome.ts'
import { Call } from './call.ts'
import type { GatewayDependencies } from './gateway-dependencies.ts'
import type { GenerateRequest, GenerationStream, ReservationRequest } from './generate-request.ts'
import type { RequestObserver } from './observer.ts'
import type { QueuedSlot } from './rate-limits/admission.ts'
import { openWithFailover } from './routing/failover.ts'

/** Sends requests to models, with everything around them: limits, billing, retries, failover and metering. */
export type Gateway = {
  generate(request: GenerateRequest): Promise<GenerationStream>
  /**
   * Reserves the tokens and the money of a call that runs later; `writes` are executed in the same transaction
   * and store the record of that call. Throws what `generate` would throw.
   */
  reserve(reservation: ReservationRequest, writes: readonly Write[]): Promise<QueuedSlot>
  /**
   * Settles a reserved call that will not run; `writes` as above. Resolves when both are stored, however long
   * that takes.
   */
  settleUnsent(metadata: RequestMetadata, error: unknown, writes: readonly Write[]): Promise<void>
  /** Undefined if users are recorded as they are. */
  readonly userHash: UserHash | undefined
  /** Records a request that was rejected before it reached a model. */
  recordRejected(metadata: RequestMetadata, error: unknown, observer?: RequestObserver): Promise<void>
}

/**
 * Creates the gateway. `generate` tries the model's routes in turn until one begins to respond; its promise
 * resolves with the first event, so that a failure before it rejects the promise, or leads to the next route.
 * While the gateway is shutting down, only reserved calls run.
 */
export function createGateway(dependencies: GatewayDependencies): Gateway {
  const { billing, calls, observer } = dependencies
  return {
    userHash: createUserHash(dependencies.userHashKey),
    generate: (request) =>
      calls.isRejecting() && !request.reserved
        ? rejectStopping(request, dependencies)
        : generateMetered(request, dependencies),
    reserve: (reservation, writes) =>
      calls.isRejecting()
        ? rejectStopping(reservation, dependencies)
        : reserveCall(reservation, writes, dependencies),
    async settleUnsent(metadata, error, writes) {
      await billing.settleEventually(metadata, failureOutcome(error), writes)
      observer?.backgroundCall(metadata).callEnded(failureOutcome(error))
    },
    recordRejected: (metadata, error, requestObserver) =>
      recordRejected({ metadata, observer: requestObserver }, error, dependencies),
  }
}

async function rejectStopping(request: ObservedRequest, dependencies: GatewayDependencies): Promise<never> {
  const error = gatewayStopping()
  await recordRejected(request, error, dependencies)
  throw error
}

type ObservedRequest = Pick<ReservationRequest, 'metadata' | 'observer'>

async function recordRejected(
  { metadata, observer }: ObservedRequest,
  error: unknown,
  { billing, log }: GatewayDependencies,
): Promise<void> {
  observer?.requestReceived(metadata)
  await billing.settle(metadata, failureOutcome(error)).catch(logFailedSettlement(log))
}

async function reserveCall(
  reservation: ReservationRequest,
  writes: readonly Write[],
  dependencies: GatewayDependencies,
): Promise<QueuedSlot> {
  const { log, states } = dependencies
  const { metadata, observer, admission, model } = reservation
  observer?.requestReceived(metadata)
  let queued: QueuedSlot | undefined
  try {
    if (model.keyMissing) throw providerKeyMissing(model.keyMissing)
    requirePayable(reservation.generation, reservation)
    const restored = await states.restore(reservation, admission.memory.acquire)
    const { generation } = restored ?? reservation
    const promptTokens = estimatePromptTokens(generation)
    const queuing = admission.queue(promptTokens)
    queued = queuing instanceof Promise ? await queuing : queuing
    await dependencies.billing.reserve(
      metadata,
      reservation,
      () => costBoundOf(generation, model, promptTokens),
      writes,
    )
    return queued
  } catch (error) {
    queued?.release()
    await dependencies.billing.settle(metadata, failureOutcome(error)).catch(logFailedSettlement(log))
    throw error
  }
}

/** Runs the call, and settles it exactly once if it fails before its stream is returned. */
async function generateMetered(
  request: GenerateRequest,
  dependencies: GatewayDependencies,
): Promise<GenerationStream> {
  const call = new Call(request, dependencies)
  const { model } = request
  try {
    if (call.replyRoom) await call.replyRoom.acquire(call.abortSource)
    // The call is settled already: what it would take from now on would never be released.
    if (call.abortSource.aborted) throw call.abortSource.reason
    if (model.keyMissing) throw providerKeyMissing(model.keyMissing)
    const pending = call.begin()
    if (pending) await pending
    const stream = await openWithFailover(call, dependencies)
    // Embeddings are never streamed: all of them have been read.
    call.replyRoom?.complete()
    return stream
  } catch (error) {
    const settled = call.settle(error).catch(logFailedSettlement(dependencies.log))
    // Its settlement, too, would wait for a database that does not answer.
    if (!(error instanceof ApiError) || error.code !== 'service_unavailable') await settled
    throw error
  }
}
