import type { GenerationEvent } from '../../domain/generation/events.ts'
import { fromGenerator, type OpenableStream } from '../../lib/push-stream.ts'
import { kindFor } from '../models/serving-routes.ts'
import { type UpstreamRequest, UpstreamStream } from '../streams/upstream-stream.ts'

/**
 * Sends the request to the provider and returns its events in batches. Every failure is thrown as the error
 * for the caller, after the events before it. Closing the stream, or aborting the signal, ends the upstream
 * request.
 */
export function sendUpstream(request: UpstreamRequest): OpenableStream<readonly GenerationEvent[]> {
  const { kind } = request.provider
  if (!('generate' in kind)) return new UpstreamStream(request, kindFor(kind, request.generation))
  request.onAccepted?.()
  return fromGenerator(kind.generate(request.generation, request.signal))
}
