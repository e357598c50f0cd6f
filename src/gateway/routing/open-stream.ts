import type { GenerationEvent } from '../../domain/generation/events.ts'
import { unsupportedSentence } from '../../domain/generation/warnings.ts'
import { fromGenerator, type OpenableStream } from '../../lib/push-stream.ts'
import type { Target } from '../../providers/protocols/protocol.ts'
import type { Provider } from '../../providers/provider.ts'
import type { Call } from '../call.ts'
import type { GatewayDependencies } from '../gateway-dependencies.ts'
import type { GenerateRequest } from '../generate-request.ts'
import type { ModelRoute } from '../models/model.ts'
import { kindFor } from '../models/serving-routes.ts'
import { withStatesOf } from '../provider-states.ts'
import type { FirstTokenTimeout } from '../streams/deadlines.ts'
import { type CallRoutes, MeteredStream } from '../streams/metered-stream.ts'
import { type UpstreamRequest, UpstreamStream } from '../streams/upstream-stream.ts'
import type { CircuitBreaker } from './circuit-breaker.ts'
import { completeAnswer } from './complete-answer.ts'
import { isClientError, isRouteFailure, isTimeout, isUnreachable } from './retry.ts'

/**
 * Sends the call to the route once; resolves when its response begins, or is complete if it is not streamed. Rejects with
 * its failure.
 */
export async function openStream(
  route: ModelRoute,
  call: Call,
  dependencies: GatewayDependencies,
  routes: CallRoutes,
): Promise<MeteredStream> {
  const [{ metadata, stream, fields }, { provider }] = [call.request, route]
  call.meter.routeChosen(route, dependencies.speeds.of(route))
  call.observer?.attemptStarted(route)
  const inlined = needsInlineImages(provider) ? await call.inlineImages() : call.generation
  const generation = withStatesOf(provider.name, inlined)
  const warnings = [...call.warnings]
  const firstToken = stream ? firstTokenTimeout(call.request) : undefined
  // A caller who has the stream already could not be served by another route.
  const handsOver = stream && firstToken === undefined
  const firstEventTimeout = handsOver ? new FirstEventTimeout(dependencies.firstEventTimeoutMs) : undefined
  call.meter.requestSent(generation)
  call.replyRoom?.attemptStarted()
  const upstream = sendUpstream({
    provider,
    target: targetOf(route, call.request, provider),
    generation,
    fields,
    signal: call.abortSource,
    firstToken,
    holdMemory: call.replyRoom?.use,
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
  const complete =
    !stream && upstream.hasMore() ? await completeAnswer(first, upstream, provider.name) : undefined
  const opened = { provider: provider.name, warnings, first: complete ?? first, upstream }
  return new MeteredStream(call, dependencies.states, opened, routes)
}

function targetOf(route: ModelRoute, { model, stream }: GenerateRequest, { kind }: Provider): Target {
  return {
    model: route.model,
    family: 'protocol' in kind ? kind.familyOf?.(route.model, model.slug) : undefined,
    stream,
    maxOutputTokens: model.maxOutputTokens,
    efforts: model.reasoning?.supported_efforts,
  }
}

/** The timeout of the caller for the first token, else that of the model. */
function firstTokenTimeout({ firstTokenTimeoutMs, model }: GenerateRequest): FirstTokenTimeout | undefined {
  const timeoutMs = firstTokenTimeoutMs ?? model.firstTokenTimeoutMs
  return timeoutMs === undefined ? undefined : { timeoutMs, byCaller: firstTokenTimeoutMs !== undefined }
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

/**
 * Sends the request to the provider and returns its events in batches. Every failure is thrown as the error
 * for the caller, after the events before it. Closing the stream, or aborting the signal, ends the upstream
 * request.
 */
function sendUpstream(request: UpstreamRequest): OpenableStream<readonly GenerationEvent[]> {
  const { generation, provider } = request
  const { kind, name: by } = provider
  if (!('generate' in kind)) return new UpstreamStream(request, kindFor(kind, generation))
  if (generation.logprobs) request.warn(unsupportedSentence({ what: 'Parameter', by }, ['logprobs']))
  request.onAccepted?.()
  return fromGenerator(kind.generate(generation, request.signal))
}

/** Bounds how long an accepted stream may be silent before the caller gets it without its first event. */
class FirstEventTimeout {
  readonly #timeoutMs: number
  readonly #expired = Promise.withResolvers<void>()
  #timer: Timer | undefined

  constructor(timeoutMs: number) {
    this.#timeoutMs = timeoutMs
  }

  /** The provider has accepted the call; the timeout starts. */
  readonly start = (): void => {
    this.#timer = setTimeout(this.#expired.resolve, this.#timeoutMs)
  }

  /** Resolves with the first event or after the timeout; rejects if the stream fails before. */
  async waitFor(first: Promise<unknown>): Promise<void> {
    try {
      await Promise.race([first, this.#expired.promise])
    } finally {
      clearTimeout(this.#timer)
      // The reader of the stream gets its failure; until then it must not count as an unhandled rejection.
      first.catch(() => {})
    }
  }
}
