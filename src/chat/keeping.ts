import type { AnswerFold } from '../generation/answer.ts'
import type { MeteredUsage } from '../gateway/money/meter.ts'
import type { Completions } from '../storage/completions.ts'
import type { ReplyFacts } from './facts.ts'
import { renderCompletion } from './render.ts'
import type { ChatRequest } from './schema.ts'

/** Keeps one completion, if its answer becomes whole. */
export type Keeping = {
  /** The answer begins, with what every part of its reply repeats. */
  begun(facts: ReplyFacts): void
  /** The write that keeps it; none for an answer that is not whole. */
  ended(error: unknown, usage: MeteredUsage): (() => void) | undefined
}

/** Keeps for the organization what has added up in the fold when the answer ends. */
export function createKeeping(
  request: ChatRequest,
  organization: string,
  fold: AnswerFold,
  completions: Pick<Completions, 'insert'>,
): Keeping {
  let facts: ReplyFacts | undefined
  return {
    begun: (given) => void (facts = given),
    ended(error, usage) {
      if (error !== undefined || facts === undefined) return undefined
      const { id, model } = facts
      const completion = renderCompletion(fold.answer(), usage, facts)
      const { metadata, messages } = request
      return () =>
        completions.insert({ id, organization, model, metadata: metadata ?? {}, completion, messages })
    },
  }
}
