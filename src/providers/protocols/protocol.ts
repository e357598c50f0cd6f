import type { GenerationEvent } from '../../domain/generation/events.ts'
import type { Parameter } from '../../domain/generation/parameters.ts'
import type { ProviderError } from '../../domain/generation/provider-error.ts'
import type { Effort, Generation } from '../../domain/generation/request.ts'
import { type Warning, Warnings } from '../../domain/generation/warnings.ts'
import type { SseEvent } from '../../lib/sse.ts'

/**
 * A wire is the format in which a family of providers is asked and answers. It knows no URL, no key, no
 * provider and no HTTP; all of it is pure.
 */
export type Protocol<State = unknown> = {
  /** The generation parameters that the format can carry, by the names of `supported_parameters`. */
  readonly parameters: ReadonlySet<Parameter>
  /** The format takes images by their bytes only: those at an https address have to be fetched before. */
  readonly inlineImages?: boolean
  /** The request body. What cannot be carried is ignored, and `warn` takes a few sentences that say so. */
  render(generation: Generation, target: Target, warn: (sentence: string) => void): Record<string, unknown>
  /** The events of a whole answer, `finish` and usage included. */
  parse(body: unknown): GenerationEvent[]
  readonly stream: StreamParser<State>
  /** What an error body says. */
  parseError(body: unknown): ProviderError
}

/** A state machine over the events of a streamed answer. It never throws: trouble is a `failure` event. */
export type StreamParser<State> = {
  initial(): State
  step(state: State, event: SseEvent): Step<State>
  /**
   * What the end of the body means. An answer that was not finished is a `failure`; what the wire held back
   * until the answer is whole (`finish`) is told here.
   */
  end(state: State): GenerationEvent[]
}

export type Step<State> = {
  readonly state: State
  readonly events: readonly GenerationEvent[]
  /** The provider said that this was the last event: the rest of the body needs no reading. */
  readonly done?: boolean
}

/** The model that is asked, as far as a wire needs to know it. */
export type Target = {
  /** The provider's own name for the model. */
  readonly model: string
  readonly stream: boolean
  readonly maxOutputTokens?: number
  /** The efforts that the model offers; absent where that is not known. */
  readonly efforts?: readonly Effort[]
}

/** Takes what the rendering of one request loses. */
export type Warn = (warning: Warning) => void

/** The `render` of a wire: what this one ignores is gathered, and told in few sentences once the body is there. */
export function gathered(
  render: (generation: Generation, target: Target, warn: Warn) => Record<string, unknown>,
): Protocol['render'] {
  return (generation, target, warn) => {
    const warnings = new Warnings()
    const body = render(generation, target, warnings.add)
    for (const sentence of warnings.sentences()) warn(sentence)
    return body
  }
}
