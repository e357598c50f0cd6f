import type { FinishReason } from '../../../domain/generation/events.ts'

/** The finish reason for a stop reason. A call that stands for the answer itself is no tool call. */
export function finishFor(word: string, calls: boolean): FinishReason {
  const reason = words.get(word)
  return reason ?? (calls ? 'tool_calls' : 'stop')
}

/** All others are a normal stop. */
const words: ReadonlyMap<string, FinishReason> = new Map([
  ['max_tokens', 'length'],
  ['model_context_window_exceeded', 'length'],
  ['refusal', 'content_filter'],
])
