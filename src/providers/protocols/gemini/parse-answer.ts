import type { GenerationEvent } from '../../../domain/generation/events.ts'
import { isObject } from '../../../lib/json/json.ts'
import { parseError } from './error.ts'
import { conclude, initialState, readChunk } from './parse-stream.ts'

/** The events of a whole answer: a stream of one chunk, which needs no word to say that it is the last. */
export function parseAnswer(body: unknown): GenerationEvent[] {
  if (!isObject(body)) return [{ type: 'failure', complaint: parseError(body) }]
  const { state, events } = readChunk(initialState, body)
  return [...events, ...conclude(state, 'STOP')]
}
