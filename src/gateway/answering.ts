import type { GenerationEvent } from '../generation/events.ts'
import type { Provider } from '../providers/provider.ts'
import type { Breaker } from './breaker.ts'
import { DeliveredAnswer } from './delivered-answer.ts'
import type { Call } from './call.ts'
import type { Answering, GatewayParts } from './gateway.ts'
import type { ModelRoute } from './models/model.ts'
import { Patience } from './patience.ts'
import { blamesQuestion, blamesRoute, isTimeout, isUnreachable } from './retry.ts'
import { ask } from './upstream/ask.ts'

/** Asks the route once and resolves when its answer has begun, or rejects with its failure. */
export async function openAnswer(route: ModelRoute, call: Call, parts: GatewayParts): Promise<Answering> {
  const { model, facts, stream, generation: asked } = call.question
  const { provider } = route
  call.meter.asked(route)
  call.observed?.asked(route)
  const seen = takesOnlyBytes(provider) ? await call.inlined() : asked
  const generation = await parts.states.restore(facts.organization, provider.name, seen)
  const warnings: string[] = []
  const patience = stream ? new Patience(parts.patience) : undefined
  call.meter.sent(generation)
  const target = {
    model: route.model,
    stream,
    maxOutputTokens: model.maxOutputTokens,
    efforts: model.reasoning?.supported_efforts,
  }
  const rest = ask({
    provider,
    target,
    generation,
    signal: call.stop,
    upstream: call.observed?.upstream,
    warn: (sentence) => void warnings.push(sentence),
    accepted: () => {
      call.meter.accepted()
      patience?.begin()
    },
  })
  const first = rest.first()
  judge(first, route, facts.organization, parts.breaker)
  await (patience ? patience.until(first) : first)
  return new DeliveredAnswer(call, parts.states, { provider: provider.name, warnings, first, rest })
}

/** Tells the breaker what came of the route. A stream that is handed over before its first event has not succeeded yet. */
function judge(
  first: Promise<Batch | undefined>,
  route: ModelRoute,
  organization: string,
  breaker: Breaker,
): void {
  first.then(
    () => breaker.succeeded(route),
    (error) => {
      if (blamesRoute(error))
        breaker.failed(route, organization, { unreachable: isUnreachable(error), slow: isTimeout(error) })
      // Whoever says what is wrong with a question is well.
      else if (blamesQuestion(error)) breaker.succeeded(route)
      else breaker.released(route)
    },
  )
}

/** Whether an image has to be sent itself: the provider does not fetch it from its address. */
function takesOnlyBytes({ kind }: Provider): boolean {
  return 'wire' in kind && kind.wire.inlineImages === true
}

type Batch = readonly GenerationEvent[]
