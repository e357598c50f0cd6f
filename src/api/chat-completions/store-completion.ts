import type { AnswerFold } from '../../domain/generation/answer.ts'
import type { MeteredUsage } from '../../gateway/billing/meter.ts'
import { noWrites, type Write } from '../../storage/ports/writes.ts'
import type { ReplyMetadata } from './reply-metadata.ts'
import { renderCompletion } from './render.ts'
import type { ChatRequest } from './schema.ts'

/** Keeps one completion, if its answer becomes whole. */
export type CompletionRecorder = {
  /** The answer begins, with what every part of its reply repeats. */
  begun(facts: ReplyMetadata): void
  /** Returns the write that stores it; none for an answer that is not complete. */
  ended(error: unknown, usage: MeteredUsage): readonly Write[]
}

/** Keeps for the organization what has added up in the fold when the answer ends. */
export function createCompletionRecorder(
  request: ChatRequest,
  organization: string,
  fold: AnswerFold,
): CompletionRecorder {
  let facts: ReplyMetadata | undefined
  return {
    begun: (given) => void (facts = given),
    ended(error, usage) {
      if (error !== undefined || facts === undefined) return noWrites
      const { id, model } = facts
      const completion = renderCompletion(fold.answer(), usage, facts)
      const { metadata, messages } = request
      const row = { id, organization, model, metadata: metadata ?? {}, completion, messages }
      return [{ kind: 'insert-completion', completion: row }]
    },
  }
}
