import type { Answer, AnswerChoice } from '../../domain/generation/answer.ts'
import type { ToolCall } from '../../domain/generation/events.ts'
import { estimatedUsageWarning, type MeteredUsage } from '../../gateway/billing/meter.ts'
import { renderUsage } from '../../http/usage.ts'
import { timeSortedId } from '../../lib/id.ts'
import { type Fields, isObject } from '../../lib/json/json.ts'
import type { ChatCompletion } from './reply-schema.ts'

/** The properties that a completion and each chunk of its stream have in common. */
export type ReplyMetadata = {
  readonly id: string
  /** Unix seconds. */
  readonly created: number
  /** The slug of the requested model. */
  readonly model: string
  readonly provider: string
  readonly performanceMode: 'standard' | 'fast'
  /** The client has requested log probabilities. */
  readonly logprobs: boolean
  readonly warnings: readonly string[]
}

/** Creates the metadata of a reply that begins now, with a new id. `now` is in milliseconds since 1970. */
export function replyMetadata(
  properties: Omit<ReplyMetadata, 'id' | 'created'>,
  now: number = Date.now(),
): ReplyMetadata {
  return { ...properties, id: timeSortedId('chatcmpl-'), created: Math.floor(now / 1000) }
}

/** Renders a complete answer as a chat completion. */
export function renderCompletion(
  answer: Answer,
  usage: MeteredUsage,
  metadata: ReplyMetadata,
): ChatCompletion {
  const warnings = metadata.warnings.slice()
  if (usage.estimated) warnings.push(estimatedUsageWarning)
  return {
    id: metadata.id,
    object: 'chat.completion',
    created: metadata.created,
    model: metadata.model,
    choices: answer.choices.map((choice, index) => renderChoice(choice, index, metadata.logprobs)),
    usage: renderUsage(usage),
    provider: metadata.provider,
    warnings: warnings.length > 0 ? warnings : undefined,
    service_tier: answer.tier,
    performance_mode: metadata.performanceMode,
  }
}

type Choice = ChatCompletion['choices'][number]

function renderChoice(choice: AnswerChoice, index: number, hasLogprobs: boolean): Choice {
  const { text, reasoning, toolCalls, finish } = choice
  const message = {
    role: 'assistant',
    content: text === '' && toolCalls.length > 0 ? null : text,
    tool_calls: toolCalls.length > 0 ? toolCalls.map(renderToolCall) : undefined,
    reasoning: reasoning === '' ? undefined : reasoning,
  }
  return {
    index,
    message,
    finish_reason: finish,
    logprobs: hasLogprobs ? renderLogprobs(choice.logprobs) : null,
  }
}

/** Renders the log probabilities of a choice or of a chunk, both lists or null. */
export function renderLogprobs(logprobs: unknown): Choice['logprobs'] {
  if (!isObject(logprobs)) return null
  const { content, refusal } = logprobs
  return { content: listOrNull(content), refusal: listOrNull(refusal) }
}

function listOrNull(value: unknown): Fields[] | null {
  return Array.isArray(value) ? value.filter(isObject) : null
}

/** Renders a tool call of a completion or a chunk. */
export function renderToolCall(call: ToolCall) {
  return {
    id: call.id,
    type: 'function' as const,
    function: { name: call.name, arguments: call.arguments },
  }
}
