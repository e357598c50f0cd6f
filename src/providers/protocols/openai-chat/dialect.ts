import type { Effort, Generation } from '../../../domain/generation/request.ts'
import type { Target, Warn } from '../protocol.ts'

/** A request or a part of one on its way to a provider. */
export type Body = Record<string, unknown>

/** How one provider's chat completions differ from the plain ones. */
export type Dialect = {
  /** What its warnings call it. */
  readonly name: string
  /** Other names of body fields, such as `random_seed` for `seed`. */
  readonly renames?: Readonly<Record<string, string>>
  /** Body fields that are refused or have no effect, by the provider's names. */
  readonly refused?: ReadonlySet<string>
  /** All body fields that there are, where any other is refused. */
  readonly only?: ReadonlySet<string>
  /** Body fields that this model refuses beyond those. */
  refusedByModel?(target: Target, generation: Generation): readonly string[]
  /** The provider tells the usage of a stream unasked and refuses to be asked. */
  readonly usageUnasked?: boolean
  /** There is no `developer` role. */
  readonly noDeveloper?: boolean
  /** Messages and their parts have no names and no fields beyond the common ones. */
  readonly bareMessages?: boolean
  /** The form in which the provider takes the id of a tool call. */
  callId?(id: string): string
  /** The body fields for a reasoning effort; undefined where the model has none. */
  effort?(effort: Effort, target: Target): Body | undefined
  /** A last word on the body, where fields and names do not say it all. */
  adapt?(body: Body, generation: Generation, target: Target, warn: Warn): Body
  /** What the provider wants to see again with the tool calls of an earlier turn. */
  readonly echo?: Echo
  /** Answers end without a finish reason; `[DONE]` alone says that one is whole. */
  readonly unnamedFinish?: boolean
}

/** A field of the message that made the tool calls, or of each call. */
export type Echo = { readonly on: 'message' | 'call'; readonly field: string }
