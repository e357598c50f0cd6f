import type { AnswerFold } from '../../domain/generation/answer.ts'
import type { MeteredUsage } from '../../gateway/billing/meter.ts'
import type { Completions } from '../../storage/sqlite/completions/completions.ts'
import type { ReplyMetadata } from './reply-metadata.ts'
import { renderCompletion } from './render.ts'
import type { ChatRequest } from './schema.ts'

/** Keeps one completion, if its answer becomes whole. */
export type CompletionRecorder = {
  /** The answer begins, with what every part of its reply repeats. */
  begun(facts: ReplyMetadata): void
  /** The write that keeps it; none for an answer that is not whole. */
  ended(error: unknown, usage: MeteredUsage): (() => void) | undefined
}

/** Keeps for the organization what has added up in the fold when the answer ends. */
export function createCompletionRecorder(
  request: ChatRequest,
  organization: string,
  fold: AnswerFold,
  completions: Pick<Completions, 'insert'>,
): CompletionRecorder {
  let facts: ReplyMetadata | undefined
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
