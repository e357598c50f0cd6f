import type { Generation } from '../../generation/request.ts'
import { ApiError } from '../../lib/errors.ts'
import type { Outcome } from '../../storage/usage.ts'
import { imagesIn } from './estimate.ts'
import type { Meter, MeteredUsage } from './meter.ts'
import type { Model } from '../models/model.ts'
import { costOf, type Nanos } from './price.ts'

/** What was asked of whom. */
export type Asked = { readonly model: Model; readonly generation: Generation }

/** How a call ended, whole or with an error, and what it took until then. */
export function outcomeOf(meter: Meter, asked: Asked, error: unknown): Outcome {
  const route = meter.route()
  const usage = used(meter, error) ? meter.usage() : nothing
  const { status, error: code } = endOf(error)
  return {
    status,
    error: code,
    provider: route?.provider.name,
    upstreamModel: route?.model,
    usage,
    cost: usage === nothing ? asked.model.pricing && 0n : costOfUsage(usage, asked),
    latency: meter.elapsed(),
    firstToken: meter.firstToken(),
  }
}

/** The end of a request that asked nobody. */
export function endOf(error: unknown): Pick<Outcome, 'status' | 'error'> {
  if (error === undefined) return { status: 200 }
  if (error instanceof ApiError) return { status: error.status, error: error.code ?? error.type }
  return { status: 500, error: 'internal_error' }
}

/** The price of what was used; undefined for a model without one. */
export function costOfUsage(usage: MeteredUsage, { model, generation }: Asked): Nanos | undefined {
  return model.pricing && costOf(usage, model.pricing, imagesIn(generation))
}

const nothing: MeteredUsage = { promptTokens: 0, completionTokens: 0, estimated: false }

/** A provider that refuses takes nothing; one whose call we gave up has taken the prompt. */
function used(meter: Meter, error: unknown): boolean {
  if (meter.firstToken() !== undefined || error === undefined) return true
  return meter.route() !== undefined && error instanceof ApiError && givenUp.has(error.code)
}

const givenUp: ReadonlySet<string | null> = new Set(['client_gone', 'cancelled', 'interrupted'])
