import type { AnswerFold } from '../../domain/generation/answer.ts'
import type { MeteredUsage } from '../../gateway/billing/meter.ts'
import type { Completions } from '../../storage/sqlite/completions/completions.ts'
import { renderCompletion, type ReplyMetadata } from './render.ts'
import type { ChatRequest } from './schema.ts'

/** Stores one completion, if its answer is complete. */
export type CompletionRecorder = {
  /** Notes the metadata of the reply, when the answer begins. */
  begun(facts: ReplyMetadata): void
  /** The write that keeps it; none for an answer that is not whole. */
  ended(error: unknown, usage: MeteredUsage): (() => void) | undefined
}

/** Creates the recorder of a request of the organization, which stores the answer of the fold when it ends. */
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
