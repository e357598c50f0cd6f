import type { GenerationEvent } from '../../domain/generation/events.ts'
import type { Provider } from '../../providers/provider.ts'
import type { CircuitBreaker } from './circuit-breaker.ts'
import { MeteredStream } from '../streams/metered-stream.ts'
import type { Call } from '../call.ts'
import type { GenerationStream } from '../generate-request.ts'
import type { GatewayDependencies } from '../gateway-dependencies.ts'
import type { ModelRoute } from '../models/model.ts'
import { FirstEventTimeout } from '../streams/first-event-timeout.ts'
import { withStatesOf } from '../provider-states.ts'
import { isClientError, isRouteFailure, isTimeout, isUnreachable } from './retry.ts'
import { sendUpstream } from '../upstream/send-upstream.ts'

/** Sends the call to the route once; resolves when its response begins, or rejects with its failure. */
export async function openStream(
  route: ModelRoute,
  call: Call,
  dependencies: GatewayDependencies,
): Promise<GenerationStream> {
  const { model, metadata, stream } = call.request
  const { provider } = route
  call.meter.routeChosen(route, dependencies.speeds.of(route))
  call.observer?.attemptStarted(route)
  const inlined = needsInlineImages(provider) ? await call.inlineImages() : call.generation
  const generation = withStatesOf(provider.name, inlined)
  const warnings = [...call.warnings]
  const firstEventTimeout = stream ? new FirstEventTimeout(dependencies.firstEventTimeoutMs) : undefined
  call.meter.requestSent(generation)
  const target = {
    model: route.model,
    stream,
    maxOutputTokens: model.maxOutputTokens,
    efforts: model.reasoning?.supported_efforts,
  }
  const upstream = sendUpstream({
    provider,
    target,
    generation,
    signal: call.abortSource,
    acquireMemory: call.acquireMemory,
    stopwatch: call.observer?.upstreamStopwatch,
    warn: (warning) => void warnings.push(warning),
    onAccepted: () => {
      call.meter.accepted()
      firstEventTimeout?.start()
    },
  })
  const first = upstream.first()
  reportToBreaker(first, route, metadata.organization, dependencies.breaker)
  await (firstEventTimeout ? firstEventTimeout.waitFor(first) : first)
  return new MeteredStream(call, dependencies.states, { provider: provider.name, warnings, first, upstream })
}

/**
 * Reports the result of the attempt to the circuit breaker. A stream that is returned before its first event
 * has not succeeded yet.
 */
function reportToBreaker(
  first: Promise<Batch | undefined>,
  route: ModelRoute,
  organization: string,
  breaker: CircuitBreaker,
): void {
  first.then(
    () => breaker.recordSuccess(route),
    (error) => {
      if (isRouteFailure(error))
        breaker.recordFailure(route, organization, {
          unreachable: isUnreachable(error),
          slow: isTimeout(error),
        })
      // A provider that rejects a bad request is healthy.
      else if (isClientError(error)) breaker.recordSuccess(route)
      else breaker.releaseProbe(route)
    },
  )
}

/** Whether images have to be sent as bytes, because the provider does not fetch them. */
function needsInlineImages({ kind }: Provider): boolean {
  return 'protocol' in kind && kind.protocol.inlineImages === true
}

type Batch = readonly GenerationEvent[]
