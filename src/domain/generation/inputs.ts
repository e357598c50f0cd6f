import type { Operation } from './source-request.ts'

/** A prompt of a completion or an input of an embedding request: a text, or the ids of its tokens. */
export type Input = string | readonly number[]

type Request = {
  readonly compaction?: boolean
  readonly operation?: Operation
  readonly choices?: number
  readonly inputs?: readonly Input[]
}

/** The number of choices of the complete response: a completion has its choices for each prompt. */
export function totalChoices({ operation, choices = 1, inputs }: Request): number {
  return operation === 'completion' ? choices * (inputs?.length ?? 1) : choices
}

/** The number of prompts, each of which fills a context window of its own. */
export function promptCount(request: Request): number {
  return Math.max(1, request.inputs?.length ?? 1) * callsOfModel(request)
}

/** The maximum number of times that the provider calls the model for one answer. */
export function callsOfModel({ compaction }: Pick<Request, 'compaction'>): number {
  return compaction === true ? 2 : 1
}
