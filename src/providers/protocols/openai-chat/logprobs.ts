import type { GenerationEvent } from '../../../domain/generation/events.ts'
import { type Fields, isObject, type Json } from '../../../lib/json/json.ts'

/** The log probabilities of a choice or of its chunk; none where the provider sends none. */
export function logprobsEvents({ logprobs }: Fields, choice: number): readonly GenerationEvent[] {
  if (!isObject(logprobs) || Object.values(logprobs).every(isEmpty)) return none
  // The body was parsed from JSON.
  return [{ type: 'logprobs', choice, logprobs: logprobs as Json }]
}

const none: readonly GenerationEvent[] = []

function isEmpty(value: unknown): boolean {
  return value === null || value === undefined || (Array.isArray(value) && value.length === 0)
}
