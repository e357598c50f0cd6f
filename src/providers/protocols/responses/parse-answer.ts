import type { GenerationEvent } from '../../../domain/generation/events.ts'
import { isObject, textOf } from '../../../lib/json/json.ts'
import { beginning, conclude } from './answer-state.ts'
import { parseError } from './error.ts'
import { failure } from './finish.ts'

/** The events of a whole answer: those of a stream that told nothing before its end. */
export function parseAnswer(body: unknown): GenerationEvent[] {
  if (!isObject(body) || !Array.isArray(body.output)) return [failure(parseError(body))]
  return conclude(beginning, body, textOf(body.status) ?? 'completed')
}
