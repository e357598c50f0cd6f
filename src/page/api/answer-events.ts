import type { AnswerDelta, AnswerUsage } from './answer.ts'
import { ApiFailure, errorIn } from './failure.ts'

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

/** The token counts of a chat completion. */
export type ChatUsage = {
  readonly prompt_tokens: number
  readonly completion_tokens: number
  readonly prompt_tokens_details?: { readonly cached_tokens?: number }
  readonly completion_tokens_details?: { readonly reasoning_tokens?: number }
}

/** Parses the data of one event of `POST /v1/chat/completions`; undefined for the end. */
export function parseChatEvent(data: string): AnswerDelta | undefined {
  if (data === '[DONE]') return undefined
  const { message, code } = errorIn(data)
  if (message !== undefined) return { failure: failureWith(message, code) }
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
    usage: usage ? chatUsage(usage) : undefined,
  }
}

/** The token counts of a chat completion, as the page shows them. */
export function chatUsage(usage: ChatUsage): AnswerUsage {
  return {
    input: usage.prompt_tokens,
    cached: usage.prompt_tokens_details?.cached_tokens ?? 0,
    output: usage.completion_tokens,
    reasoning: usage.completion_tokens_details?.reasoning_tokens ?? 0,
  }
}

type StreamEvent = {
  readonly type?: string
  readonly delta?: string
  readonly output_index?: number
  readonly message?: string
  readonly code?: string | null
  readonly item?: { readonly type?: string; readonly name?: string }
  readonly response?: ResponseFields
}

type ResponseFields = {
  readonly id?: string
  readonly model?: string
  readonly provider?: string
  readonly status?: string
  readonly warnings?: readonly string[]
  readonly incomplete_details?: { readonly reason?: string } | null
  readonly error?: { readonly message?: string; readonly code?: string } | null
  readonly usage?: ResponseUsage | null
}

/** The token counts of a response. */
export type ResponseUsage = {
  readonly input_tokens: number
  readonly output_tokens: number
  readonly input_tokens_details?: { readonly cached_tokens?: number }
  readonly output_tokens_details?: { readonly reasoning_tokens?: number }
}

/** Returns a parser of the events of one response: tool calls are numbered in the order in which they begin. */
export function createResponseEventParser(): (data: string) => AnswerDelta | undefined {
  const callByOutput = new Map<number, number>()
  return (data) => {
    const { message, code } = errorIn(data)
    if (message !== undefined) return { failure: failureWith(message, code) }
    const event = JSON.parse(data) as StreamEvent
    if (event.type === 'response.output_item.added' && event.item?.type === 'function_call') {
      const index = callByOutput.size
      callByOutput.set(event.output_index ?? index, index)
      return { toolCalls: [{ index, name: event.item.name ?? '' }] }
    }
    if (event.type === 'response.function_call_arguments.delta') {
      const index = callByOutput.get(event.output_index ?? 0) ?? 0
      return { toolCalls: [{ index, arguments: event.delta ?? '' }] }
    }
    return parseEvent(event)
  }
}

function parseEvent(event: StreamEvent): AnswerDelta {
  switch (event.type) {
    case 'response.output_text.delta':
    case 'response.refusal.delta':
      return { text: event.delta ?? '' }
    case 'response.reasoning_summary_text.delta':
    case 'response.reasoning_text.delta':
      return { reasoning: event.delta ?? '' }
    case 'error':
      return { failure: failureWith(event.message, event.code) }
    default:
      return event.response === undefined ? {} : parseResponse(event.response)
  }
}

function parseResponse(response: ResponseFields): AnswerDelta {
  const { id, model, provider, status, warnings, error, usage, incomplete_details: incomplete } = response
  return {
    id,
    model,
    provider,
    warnings,
    usage: usage ? responseUsage(usage) : undefined,
    ...(status === 'failed' && { failure: failureWith(error?.message, error?.code) }),
    ...(status === 'completed' && { finishReason: 'completed' }),
    ...(status === 'incomplete' && { finishReason: incomplete?.reason ?? 'incomplete' }),
  }
}

function failureWith(message = 'The response failed.', code?: string | null): ApiFailure {
  return new ApiFailure(message, { status: 200, code: code ?? null })
}

/** The token counts of a response, as the page shows them. */
export function responseUsage(usage: ResponseUsage): AnswerUsage {
  return {
    input: usage.input_tokens,
    cached: usage.input_tokens_details?.cached_tokens ?? 0,
    output: usage.output_tokens,
    reasoning: usage.output_tokens_details?.reasoning_tokens ?? 0,
  }
}
