import type { AnswerAccumulator } from '../../domain/generation/answer.ts'
import type { MeteredUsage } from '../../gateway/billing/meter.ts'
import { renderCompletion, type ReplyMetadata } from './render.ts'
import { noWrites, type Write } from '../../storage/ports/ledger.ts'
import type { ChatRequest } from './schema.ts'

/** Stores one completion, if its answer is complete. */
export type CompletionRecorder = {
  /** Notes the metadata of the reply, when the answer begins. */
  onStarted(metadata: ReplyMetadata): void
  /** Returns the write that stores it; none for an answer that is not complete. */
  onSettled(error: unknown, usage: MeteredUsage): readonly Write[]
}

/** Creates the recorder of a request of the organization, which stores the answer of the fold when it ends. */
export function createCompletionRecorder(
  request: ChatRequest,
  organization: string,
  fold: AnswerAccumulator,
): CompletionRecorder {
  let reply: ReplyMetadata | undefined
  return {
    onStarted: (metadata) => void (reply = metadata),
    onSettled(error, usage) {
      if (error !== undefined || reply === undefined) return noWrites
      const { id, model } = reply
      const completion = renderCompletion(fold.answer(), usage, reply)
      const { metadata, messages } = request
      const row = { id, organization, model, metadata: metadata ?? {}, completion, messages }
      return [{ kind: 'insert-completion', completion: row }]
    },
  }
}
