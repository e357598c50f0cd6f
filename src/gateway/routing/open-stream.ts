import type { GenerationEvent } from '../../domain/generation/events.ts'
import type { Provider } from '../../providers/provider.ts'
import type { CircuitBreaker } from './circuit-breaker.ts'
import { MeteredStream } from '../streams/metered-stream.ts'
import type { Call } from '../call.ts'
import type { GenerationStream, GatewayParts } from '../gateway.ts'
import type { ModelRoute } from '../models/model.ts'
import { FirstEventTimeout } from '../streams/first-event-timeout.ts'
import { isClientError, isRouteFailure, isTimeout, isUnreachable } from './retry.ts'
import { sendUpstream } from '../upstream/send-upstream.ts'

/** Asks the route once and resolves when its answer has begun, or rejects with its failure. */
export async function openStream(
  route: ModelRoute,
  call: Call,
  parts: GatewayParts,
): Promise<GenerationStream> {
  const { model, facts, stream, generation: asked } = call.question
  const { provider } = route
  call.meter.routeChosen(route)
  call.observed?.attemptStarted(route)
  const seen = takesOnlyBytes(provider) ? await call.inlined() : asked
  const generation = await parts.states.restore(facts.organization, provider.name, seen)
  const warnings: string[] = []
  const patience = stream ? new FirstEventTimeout(parts.patience) : undefined
  call.meter.sent(generation)
  const target = {
    model: route.model,
    stream,
    maxOutputTokens: model.maxOutputTokens,
    efforts: model.reasoning?.supported_efforts,
  }
  const rest = sendUpstream({
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
  return new MeteredStream(call, parts.states, { provider: provider.name, warnings, first, rest })
}

/** Tells the breaker what came of the route. A stream that is handed over before its first event has not succeeded yet. */
function judge(
  first: Promise<Batch | undefined>,
  route: ModelRoute,
  organization: string,
  breaker: CircuitBreaker,
): void {
  first.then(
    () => breaker.succeeded(route),
    (error) => {
      if (isRouteFailure(error))
        breaker.failed(route, organization, { unreachable: isUnreachable(error), slow: isTimeout(error) })
      // Whoever says what is wrong with a question is well.
      else if (isClientError(error)) breaker.succeeded(route)
      else breaker.released(route)
    },
  )
}

/** Whether an image has to be sent itself: the provider does not fetch it from its address. */
function takesOnlyBytes({ kind }: Provider): boolean {
  return 'protocol' in kind && kind.protocol.inlineImages === true
}

type Batch = readonly GenerationEvent[]
