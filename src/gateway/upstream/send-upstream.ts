import type { GenerationEvent } from '../../domain/generation/events.ts'
import type { Generation } from '../../domain/generation/request.ts'
import type { AbortLike } from '../../lib/abort.ts'
import { fromGenerator, type OpenableStream } from '../../lib/push-stream.ts'
import type { Stopwatch } from '../../lib/stopwatch.ts'
import type { Target } from '../../providers/protocols/protocol.ts'
import type { Provider } from '../../providers/provider.ts'
import { UpstreamStream } from '../streams/upstream-stream.ts'

/** One question to one provider. */
export type UpstreamRequest = {
  readonly provider: Provider
  readonly target: Target
  readonly generation: Generation
  readonly signal: AbortLike
  readonly upstream?: Stopwatch | undefined
  readonly warn: (sentence: string) => void
  /** The provider has taken the call: its answer has begun, though nothing may have been said yet. */
  readonly accepted?: (() => void) | undefined
}

/**
 * Asks the provider and gives what it says, a batch of events at a time. Every failure is thrown, as the error
 * that the caller would get, after the events that came before it. Closing it, or the signal, ends the upstream call.
 */
export function sendUpstream(question: UpstreamRequest): OpenableStream<readonly GenerationEvent[]> {
  const { kind } = question.provider
  if (!('generate' in kind)) return new UpstreamStream(question, kind)
  question.accepted?.()
  return fromGenerator(kind.generate(question.generation, question.signal))
}
