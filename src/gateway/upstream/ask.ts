import type { GenerationEvent } from '../../generation/events.ts'
import type { Generation } from '../../generation/request.ts'
import { type Opening, sourceOf } from '../../lib/source.ts'
import type { Stopping } from '../../lib/stop.ts'
import type { Stopwatch } from '../../lib/stopwatch.ts'
import type { Provider } from '../../providers/provider.ts'
import type { Target } from '../../providers/wires/wire.ts'
import { RemoteAnswer } from './remote-answer.ts'

/** One question to one provider. */
export type Ask = {
  readonly provider: Provider
  readonly target: Target
  readonly generation: Generation
  readonly signal: Stopping
  readonly upstream?: Stopwatch | undefined
  readonly warn: (sentence: string) => void
  /** The provider has taken the call: its answer has begun, though nothing may have been said yet. */
  readonly accepted?: (() => void) | undefined
}

/**
 * Asks the provider and gives what it says, a batch of events at a time. Every failure is thrown, as the error
 * that the caller would get, after the events that came before it. Closing it, or the signal, ends the upstream call.
 */
export function ask(question: Ask): Opening<readonly GenerationEvent[]> {
  const { kind } = question.provider
  if (!('answer' in kind)) return new RemoteAnswer(question, kind)
  question.accepted?.()
  return sourceOf(kind.answer(question.generation, question.signal))
}
