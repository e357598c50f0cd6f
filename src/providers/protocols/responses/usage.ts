import type { Usage } from '../../../domain/generation/usage.ts'
import { type Fields, isObject } from '../../../lib/json/json.ts'
import { parseUsage as parseChatUsage } from '../openai-chat/usage.ts'

/** The usage of a response: the counts of chat completions under other names. */
export function parseUsage({ usage }: Fields): Usage | undefined {
  if (!isObject(usage)) return undefined
  return parseChatUsage({
    usage: {
      prompt_tokens: usage.input_tokens,
      completion_tokens: usage.output_tokens,
      total_tokens: usage.total_tokens,
      prompt_tokens_details: usage.input_tokens_details,
      completion_tokens_details: usage.output_tokens_details,
    },
  })
}
