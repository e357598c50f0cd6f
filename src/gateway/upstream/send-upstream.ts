import type { GenerationEvent } from '../../domain/generation/events.ts'
import { fromGenerator, type OpenableStream } from '../../lib/push-stream.ts'
import { type UpstreamRequest, UpstreamStream } from '../streams/upstream-stream.ts'

/**
 * Asks the provider and gives what it says, a batch of events at a time. Every failure is thrown, as the error
 * that the caller would get, after the events that came before it. Closing it, or the signal, ends the upstream call.
 */
export function sendUpstream(request: UpstreamRequest): OpenableStream<readonly GenerationEvent[]> {
  const { kind } = request.provider
  if (!('generate' in kind)) return new UpstreamStream(request, kind)
  request.onAccepted?.()
  return fromGenerator(kind.generate(request.generation, request.signal))
}
