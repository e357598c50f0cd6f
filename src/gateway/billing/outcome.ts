import type { Outcome, RequestMetadata } from '../../domain/accounting/request-metadata.ts'
import { ApiError } from '../../lib/errors/errors.ts'
import type { Log } from '../../lib/log.ts'
import type { Nanos } from '../../lib/usd.ts'
import type { CallObserver } from '../observer.ts'
import { requestDetails } from '../request-details.ts'
import { isExcessive } from '../streams/upstream-error.ts'
import { countImages } from './estimate.ts'
import type { Meter, MeteredUsage } from './meter.ts'
import { costOf, type PricedCall, pricingOf } from './price.ts'

type RecordedCall = PricedCall & { readonly metadata: Pick<RequestMetadata, 'stream'> }

/** The outcome of a call, complete or with an error, with its usage and cost up to then. */
export function outcomeOf(meter: Meter, request: RecordedCall, error: unknown): Outcome {
  const route = meter.route()
  const usage = isChargeable(meter, error) ? meter.usage(isCutByCaller(error)) : noUsage
  const { status, error: code } = statusOf(error)
  return {
    status,
    error: code,
    provider: route?.provider.name,
    upstreamModel: route?.model,
    usage,
    cost: costOfAttempts(usage, request, meter),
    latency: meter.elapsed(),
    firstToken: request.metadata.stream ? meter.timeToFirstToken() : undefined,
  }
}

/** The cost of the answer and of the attempts that the caller has ended; undefined for a model without a price. */
function costOfAttempts(usage: MeteredUsage, request: PricedCall, meter: Meter): Nanos | undefined {
  const own = usage === noUsage ? request.model.pricing && 0n : costOfUsage(usage, request, meter)
  if (own === undefined) return undefined
  return meter.abandoned().reduce((sum, used) => sum + (costOfUsage(used, request, untiered) ?? 0n), own)
}

/** An attempt that was ended has not named the tier that served it. */
const untiered: Pick<Meter, 'tier'> = { tier: () => undefined }

/** The outcome of a request that was sent to no provider. */
export function failureOutcome(error: unknown): Pick<Outcome, 'status' | 'error' | 'details'> {
  return { ...statusOf(error), details: requestDetails(error) }
}

function statusOf(error: unknown): Pick<Outcome, 'status' | 'error'> {
  if (error === undefined) return { status: 200 }
  if (error instanceof ApiError) return { status: error.status, error: error.code ?? error.type }
  return { status: 500, error: 'internal_error' }
}

/** The cost of the usage in the tier that served it; undefined for a model without a price. */
export function costOfUsage(
  usage: MeteredUsage,
  request: PricedCall,
  meter: Pick<Meter, 'tier'>,
): Nanos | undefined {
  const pricing = pricingOf(request, meter.tier())
  return pricing && costOf(usage, pricing, countImages(request.generation))
}

const noUsage: MeteredUsage = { promptTokens: 0, completionTokens: 0, estimated: false }

/**
 * Whether the call is charged: a provider that rejects a request charges nothing; one that held the request
 * when it was aborted charges the prompt, and one whose answer is excessive has generated it.
 */
function isChargeable(meter: Meter, error: unknown): boolean {
  if (meter.timeToFirstToken() !== undefined || error === undefined) return true
  return (hasCode(error, abortCodes) || isExcessive(error)) && meter.isBillable()
}

/** Whether the caller has, or may have, caused that the end of the answer, with its usage, was not received. */
function isCutByCaller(error: unknown): boolean {
  return hasCode(error, cancelCodes) || isExcessive(error)
}

function hasCode(error: unknown, codes: ReadonlySet<string | null>): boolean {
  return error instanceof ApiError && codes.has(error.code)
}

/** Errors that mean that the caller ended the call, or that its key ended or was disabled, itself or what it belongs to. */
const cancelCodes: ReadonlySet<string | null> = new Set([
  'client_gone',
  'cancelled',
  'invalid_api_key',
  'key_disabled',
  'project_disabled',
  'organization_disabled',
  'no_organization',
])

const abortCodes: ReadonlySet<string | null> = new Set([...cancelCodes, 'interrupted'])

/** Reports the end of a call; that of an answer that was promised to be stored, once it is or has failed to be. */
export function reportEnd(observer: CallObserver, outcome: Outcome, stored?: Promise<unknown>): void {
  if (stored === undefined) observer.callEnded(outcome)
  else
    stored.then(
      () => observer.callEnded(outcome),
      (error: unknown) => observer.callEnded({ ...outcome, ...statusOf(error) }),
    )
}

/** Logs that a provider has reported more tokens than the request could use. */
export function warnOfImplausibleUsage(meter: Meter, log: Log): void {
  const implausible = meter.implausibleUsage()
  if (!implausible) return
  const { promptTokens, completionTokens } = implausible
  const route = meter.route()
  const fields = { provider: route?.provider.name, model: route?.model, promptTokens, completionTokens }
  log.warn('A provider reported more tokens than the request could use; the maximum was charged.', fields)
}
