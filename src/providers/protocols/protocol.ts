import type { GenerationEvent, ProtocolName, ProviderError } from '../../domain/generation/events.ts'
import type { Parameter } from '../../domain/generation/parameters.ts'
import type { Effort, Generation } from '../../domain/generation/request.ts'
import { type Warning, Warnings } from '../../domain/generation/warnings.ts'
import type { SseEvent } from '../../lib/sse.ts'

/** A request body or a part of one. */
export type Body = Record<string, unknown>

/**
 * The format of the requests and responses of a family of providers. It knows no URL, no key, no provider and no HTTP,
 * and its functions are pure.
 */
export type Protocol<State = unknown> = {
  readonly name: ProtocolName
  /** The generation parameters that the protocol supports, by the names of `supported_parameters`. */
  readonly parameters: ReadonlySet<Parameter>
  /**
   * The protocol supports only inline images: the gateway fetches those at an https URL before it renders the request.
   */
  readonly inlineImages?: boolean
  /** The lowest limit of output tokens that can be requested: a lower one is raised to it. */
  readonly minOutputTokens?: number
  /** Renders the request body. Unsupported fields are ignored; `warn` is called with a few sentences about them. */
  render(generation: Generation, target: Target, warn: (sentence: string) => void): Body
  /**
   * Returns the events of a response that was not streamed, with `finish` and usage. `generation` is the request, which
   * some responses have to match.
   */
  parse(body: unknown, generation?: Generation): GenerationEvent[]
  /** The name of the property with each embedding of a response: the values of a long one are parsed one at a time. */
  readonly embeddingName?: string
  readonly stream: StreamParser<State>
  /** Parses an error body. */
  parseError(body: unknown): ProviderError
}

/** A state machine over the events of a streamed response. It never throws: an error is a `failure` event. */
export type StreamParser<State> = {
  initial(): State
  step(state: State, event: SseEvent): Step<State>
  /**
   * The events at the end of the body: those that wait until the response is complete (`finish`), or a `failure`
   * where it is incomplete.
   */
  end(state: State): GenerationEvent[]
}

export type Step<State> = {
  readonly state: State
  readonly events: readonly GenerationEvent[]
  /** The provider marked this event as the last: the rest of the body is not read. */
  readonly done?: boolean
}

/** The properties of the receiving model that a protocol needs. */
export type Target = {
  /** The provider's name of the model. */
  readonly model: string
  /** A name of the model that tells its family, where the provider's own does not. */
  readonly family?: string
  readonly stream: boolean
  readonly maxOutputTokens?: number
  /** The reasoning efforts that the model supports; absent where they are unknown. */
  readonly efforts?: readonly Effort[]
}

/** Records something that the rendered request does not contain. */
export type Warn = (warning: Warning) => void

/**
 * The `render` of a protocol: its warnings are collected and passed on as a few sentences after the body is rendered.
 */
export function collectWarnings(
  render: (generation: Generation, target: Target, warn: Warn) => Body,
): Protocol['render'] {
  return (generation, target, warn) => {
    const warnings = new Warnings()
    const body = render(generation, target, warnings.add)
    for (const sentence of warnings.sentences()) warn(sentence)
    return body
  }
}
