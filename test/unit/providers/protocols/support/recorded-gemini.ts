import type { Recording } from './recorded-facts.ts'

type Facts = Recording['meta']['facts']

const words: Readonly<Record<string, string>> = {
  STOP: 'stop',
  MAX_TOKENS: 'length',
  SAFETY: 'content_filter',
}

/** The facts of a `generateContent` response in the form of the others. */
export function factsOfGemini(facts: Facts & { readonly prompt_feedback?: unknown }): Facts {
  const blocked = facts.prompt_feedback ? 'content_filter' : null
  const choices = (facts.choices ?? []).map((choice) => ({
    ...choice,
    // The arguments came as an object and were written out with spaces.
    tool_calls: choice.tool_calls?.map((call) => ({ ...call, arguments: compact(call.arguments) })),
    finish_native: choice.finish_native ? (words[choice.finish_native] ?? 'unknown') : blocked,
  }))
  const { usage } = facts
  return {
    ...facts,
    choices,
    usage: usage && usage.prompt_tokens + usage.completion_tokens > 0 ? usage : null,
  }
}

function compact(text: string): string {
  return text === '' ? '' : JSON.stringify(JSON.parse(text))
}
