import { ApiFailure, errorIn } from '../api/failure.ts'
import type { AnswerDelta, AnswerUsage } from './answer.ts'

type Chunk = {
  readonly id?: string
  readonly model?: string
  readonly provider?: string
  readonly warnings?: readonly string[]
  readonly choices?: readonly Choice[]
  readonly usage?: ChatUsage | null
}

type Choice = {
  readonly finish_reason?: string | null
  readonly delta?: {
    readonly content?: string | null
    readonly reasoning?: string | null
    readonly tool_calls?: readonly {
      readonly index: number
      readonly function?: { readonly name?: string; readonly arguments?: string }
    }[]
  }
}

type ChatUsage = {
  readonly prompt_tokens: number
  readonly completion_tokens: number
  readonly prompt_tokens_details?: { readonly cached_tokens?: number }
  readonly completion_tokens_details?: { readonly reasoning_tokens?: number }
}

/** Parses the data of one event of `POST /v1/chat/completions`; undefined for the end. */
export function parseChatEvent(data: string): AnswerDelta | undefined {
  if (data === '[DONE]') return undefined
  const { message, code } = errorIn(data)
  if (message !== undefined) return { failure: new ApiFailure(message, { status: 200, code: code ?? null }) }
  const { id, model, provider, warnings, choices, usage } = JSON.parse(data) as Chunk
  const choice = choices?.[0]
  return {
    id,
    model,
    provider,
    warnings,
    text: choice?.delta?.content ?? undefined,
    reasoning: choice?.delta?.reasoning ?? undefined,
    toolCalls: choice?.delta?.tool_calls?.map((call) => ({ index: call.index, ...call.function })),
    finishReason: choice?.finish_reason ?? undefined,
    usage: usage ? toUsage(usage) : undefined,
  }
}

function toUsage(usage: ChatUsage): AnswerUsage {
  return {
    input: usage.prompt_tokens,
    cached: usage.prompt_tokens_details?.cached_tokens ?? 0,
    output: usage.completion_tokens,
    reasoning: usage.completion_tokens_details?.reasoning_tokens ?? 0,
  }
}
