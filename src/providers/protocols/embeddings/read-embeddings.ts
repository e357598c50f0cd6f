import type { GenerationEvent } from '../../../domain/generation/events.ts'
import { invalidData, type ProviderError } from '../../../domain/generation/provider-error.ts'
import type { Generation } from '../../../domain/generation/request.ts'
import type { Usage } from '../../../domain/generation/usage.ts'
import type { Json } from '../../../lib/json/json.ts'
import type { StreamParser } from '../protocol.ts'
import { toVector } from './vector.ts'

/** An embedding of a response; a response without indices has the order of the inputs. */
export type ReceivedEmbedding = { readonly index?: unknown; readonly embedding: unknown }

/**
 * The events of a complete response: an embedding for each input, in order, the usage and the finish. A response whose
 * embeddings do not match the inputs is a failure.
 */
export function readEmbeddings(
  received: readonly ReceivedEmbedding[],
  promptTokens: number | undefined,
  generation: Generation | undefined,
): GenerationEvent[] {
  const vectors = inOrder(received, generation)
  if (vectors === undefined) return [failure(mismatch)]
  const events: GenerationEvent[] = vectors.map((embedding, index) => ({
    type: 'embedding',
    index,
    embedding,
  }))
  const usage: Usage | undefined = promptTokens ? { promptTokens, completionTokens: 0 } : undefined
  if (usage) events.push({ type: 'usage', usage })
  return [...events, { type: 'finish', choice: 0, reason: 'stop' }]
}

/** Undefined where an index is missing, repeated or too large, or where an embedding is not valid. */
function inOrder(
  received: readonly ReceivedEmbedding[],
  generation: Generation | undefined,
): readonly Json[] | undefined {
  const count = generation?.inputs?.length ?? received.length
  if (received.length !== count) return undefined
  const vectors = new Map<number, Json>()
  for (const [position, { index = position, embedding }] of received.entries()) {
    const vector = toVector(embedding, generation?.embedding?.format ?? 'float')
    if (vector === undefined || typeof index !== 'number') return undefined
    vectors.set(index, vector)
  }
  const ordered = Array.from({ length: count }, (_, index) => vectors.get(index))
  return ordered.every((vector) => vector !== undefined) ? ordered : undefined
}

const mismatch: ProviderError = { message: 'its embeddings do not match the inputs', detected: true }

function failure(error: ProviderError): GenerationEvent {
  return { type: 'failure', error }
}

/** Embeddings are never streamed: a provider that sends a stream has not understood the request. */
export const noStream: StreamParser<null> = {
  initial: () => null,
  step: (state) => ({ state, events: [], done: true }),
  end: () => [failure(invalidData)],
}
