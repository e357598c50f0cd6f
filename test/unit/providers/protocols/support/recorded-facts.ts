import type { ParsedChoice } from './parsed-reply.ts'

/** An exchange with a provider and what an independent reader made of it. */
export type Recording = {
  readonly path: string
  readonly family: string
  readonly meta: { readonly status: number; readonly stream: boolean; readonly facts: Facts }
  readonly body: Buffer
}

type Facts = {
  readonly error?: { readonly message?: string; readonly code?: unknown } | null
  readonly usage?: FactUsage | null
  readonly choices?: readonly FactChoice[]
}
type FactChoice = {
  readonly text: string
  readonly reasoning?: string
  readonly refusal?: string | null
  readonly tool_calls?: readonly { readonly name: string; readonly arguments: string }[]
  readonly finish_native: string | null
}
type FactUsage = {
  readonly prompt_tokens: number
  readonly completion_tokens: number
  readonly cached_tokens: number | null
  readonly reasoning_tokens: number | null
}

/** The expected content of one choice. */
export type Expected = Omit<ParsedChoice, 'ids'>

/** The expected result of the protocol; `broken` if it must end with a failure. */
export function expectedReplies(recording: Recording): {
  readonly broken: boolean
  readonly choices: readonly Expected[]
} {
  const { facts } = recording.meta
  const choices = facts.choices ?? []
  const finished = choices.every((choice) => choice.finish_native || recording.family === 'snowflake')
  return { broken: Boolean(facts.error) || !finished, choices: choices.map(expectedChoice) }
}

function expectedChoice(choice: FactChoice): Expected {
  const calls = (choice.tool_calls ?? []).map((call) => ({ ...call, arguments: call.arguments || '{}' }))
  return {
    text: choice.text + (choice.refusal ?? ''),
    reasoning: choice.reasoning ?? '',
    calls,
    finish: finishOf(choice.finish_native || 'stop', calls.length > 0),
  }
}

/** The words of all recordings; a forced call ends with `stop` at some providers. */
function finishOf(native: string, calls: boolean): string {
  if (calls) return 'tool_calls'
  return words[native] ?? 'unknown'
}

const words: Readonly<Record<string, string | undefined>> = {
  stop: 'stop',
  eos: 'stop',
  length: 'length',
  content_filter: 'content_filter',
  end_turn: 'stop',
  stop_sequence: 'stop',
  max_tokens: 'length',
  refusal: 'content_filter',
}

/** Parts are limited to their whole. */
export function expectedUsage(usage: FactUsage): Record<string, number> {
  const { prompt_tokens: promptTokens, completion_tokens: completionTokens } = usage
  return {
    promptTokens,
    completionTokens,
    ...(usage.cached_tokens ? { cachedTokens: Math.min(usage.cached_tokens, promptTokens) } : {}),
    ...(usage.reasoning_tokens
      ? { reasoningTokens: Math.min(usage.reasoning_tokens, completionTokens) }
      : {}),
  }
}
