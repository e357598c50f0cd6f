import type { GenerationEvent } from '../generation/events.ts'
import { wait } from '../lib/wait.ts'
import { ask } from './ask.ts'
import { imagesIn } from './estimate.ts'
import type { GatewayParts, Question } from './generate.ts'
import { createMeter, type Meter, type MeteredUsage } from './meter.ts'
import type { ModelRoute } from './model.ts'
import { costOf, type Nanos } from './price.ts'

/** An answer that has begun. */
export type Answering = {
  /** The name of the provider that gives it. */
  readonly provider: string
  /** What the provider could not be told, a sentence each. */
  readonly warnings: readonly string[]
  /** Batches of events; a failure is thrown. Whoever takes the answer reads them or returns the generator. */
  readonly events: AsyncGenerator<readonly GenerationEvent[]>
  /** What has been used up to now. */
  usage(): MeteredUsage
  /** The price of that; undefined for a model without a price. */
  cost(): Nanos | undefined
}

/** Asks the route once and resolves when its answer has begun, or rejects with its failure. */
export async function openAnswer(
  route: ModelRoute,
  question: Question,
  parts: GatewayParts,
): Promise<Answering> {
  const { model, organization, stream, signal } = question
  const { provider } = route
  const generation = await parts.states.restore(organization, provider.name, question.generation)
  const warnings: string[] = []
  const accepted = Promise.withResolvers<void>()
  const target = {
    model: route.model,
    stream,
    maxOutputTokens: model.maxOutputTokens,
    efforts: model.reasoning?.supported_efforts,
  }
  const warn = (sentence: string) => void warnings.push(sentence)
  const events = ask({ provider, target, generation, signal, warn, accepted: accepted.resolve })
  const first = events.next()
  await (stream ? firstOrPatience(first, accepted.promise, parts.patience) : first)
  const meter = createMeter(generation)
  const keep = (batch: readonly GenerationEvent[]) => parts.states.keep(organization, provider.name, batch)
  const cost = () => model.pricing && costOf(meter.usage(), model.pricing, imagesIn(generation))
  return {
    provider: provider.name,
    warnings,
    events: delivered(first, events, meter, keep),
    usage: meter.usage,
    cost,
  }
}

type Batch = IteratorResult<readonly GenerationEvent[]>

/** Resolves with the first event, or when the provider has accepted the call and then kept silent for so long. */
async function firstOrPatience(
  first: Promise<Batch>,
  accepted: Promise<void>,
  patience: number,
): Promise<void> {
  const answered = new AbortController()
  const silence = accepted.then(() => wait(patience, answered.signal)).catch(() => {})
  try {
    await Promise.race([first, silence])
  } finally {
    answered.abort()
    // Whoever reads the events gets the failure; until then it must not count as nobody's.
    first.catch(() => {})
  }
}

/** Passes the batches on, counted, and with what the provider wants back stored before the caller sees its call. */
async function* delivered(
  first: Promise<Batch>,
  rest: AsyncGenerator<readonly GenerationEvent[]>,
  meter: Meter,
  keep: (batch: readonly GenerationEvent[]) => Promise<void> | undefined,
): AsyncGenerator<readonly GenerationEvent[]> {
  try {
    for (let next = await first; !next.done; next = await rest.next()) {
      meter.add(next.value)
      const kept = keep(next.value)
      if (kept) await kept
      yield next.value
    }
  } finally {
    await rest.return(undefined)
  }
}
