import type { GenerationEvent } from '../generation/events.ts'
import { Stop } from '../lib/stop.ts'
import { wait } from '../lib/wait.ts'
import type { Provider } from '../providers/provider.ts'
import type { Breaker } from './breaker.ts'
import { DeliveredAnswer } from './delivered-answer.ts'
import type { Answering, GatewayParts, OpenQuestion } from './gateway.ts'
import type { ModelRoute } from './models/model.ts'
import { costOfCall } from './money/outcome.ts'
import { blamesQuestion, blamesRoute } from './retry.ts'
import { ask } from './upstream/ask.ts'

/** Asks the route once and resolves when its answer has begun, or rejects with its failure. */
export async function openAnswer(
  route: ModelRoute,
  question: OpenQuestion,
  parts: GatewayParts,
): Promise<Answering> {
  const { model, facts, stream, signal, meter } = question
  const upstream = question.observed?.upstream
  const { organization } = facts
  const { provider } = route
  const seen = takesOnlyBytes(provider) ? await question.inlined() : question.generation
  const generation = await parts.states.restore(organization, provider.name, seen)
  const warnings: string[] = []
  const accepted = Promise.withResolvers<void>()
  const target = {
    model: route.model,
    stream,
    maxOutputTokens: model.maxOutputTokens,
    efforts: model.reasoning?.supported_efforts,
  }
  const warn = (sentence: string) => void warnings.push(sentence)
  const events = ask({ provider, target, generation, signal, upstream, warn, accepted: accepted.resolve })
  const first = events.next()
  judge(first, route, parts.breaker)
  await (stream ? firstOrPatience(first, accepted.promise, parts.patience) : first)
  const keep = (batch: Batch) => parts.states.keep(organization, provider.name, batch)
  return {
    provider: provider.name,
    warnings,
    events: new DeliveredAnswer(first, events, keep, question),
    usage: () => question.outcome()?.usage ?? meter.usage(),
    cost() {
      const outcome = question.outcome()
      return outcome ? outcome.cost : costOfCall({ meter, model, generation })
    },
  }
}

/** Tells the breaker what came of the route. A stream that is handed over before its first event has not succeeded yet. */
function judge(first: Promise<Batch | undefined>, route: ModelRoute, breaker: Breaker): void {
  first.then(
    () => breaker.succeeded(route),
    (error) => {
      if (blamesRoute(error)) breaker.failed(route)
      // Whoever says what is wrong with a question is well.
      else if (blamesQuestion(error)) breaker.succeeded(route)
    },
  )
}

/** Whether an image has to be sent itself: the provider does not fetch it from its address. */
function takesOnlyBytes({ kind }: Provider): boolean {
  return 'wire' in kind && kind.wire.inlineImages === true
}

type Batch = readonly GenerationEvent[]

/** Resolves with the first event, or when the provider has accepted the call and then kept silent for so long. */
async function firstOrPatience(
  first: Promise<Batch | undefined>,
  accepted: Promise<void>,
  patience: number,
): Promise<void> {
  const answered = new Stop()
  const silence = accepted.then(() => wait(patience, answered)).catch(() => {})
  try {
    await Promise.race([first, silence])
  } finally {
    answered.abort(undefined)
    // Whoever reads the events gets the failure; until then it must not count as nobody's.
    first.catch(() => {})
  }
}
