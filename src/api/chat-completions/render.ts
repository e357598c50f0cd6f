import type { Answer, AnswerChoice } from '../../domain/generation/answer.ts'
import type { ToolCall } from '../../domain/generation/events.ts'
import { estimatedUsageWarning, type MeteredUsage } from '../../gateway/billing/meter.ts'
import type { ReplyMetadata } from './reply-metadata.ts'
import { renderUsage } from './render-usage.ts'
import type { ChatCompletion } from './reply-schema.ts'

/** A whole answer as a chat completion. */
export function renderCompletion(answer: Answer, usage: MeteredUsage, facts: ReplyMetadata): ChatCompletion {
  const warnings = [...facts.warnings, ...(usage.estimated ? [estimatedUsageWarning] : [])]
  return {
    id: facts.id,
    object: 'chat.completion',
    created: facts.created,
    model: facts.model,
    choices: answer.choices.map(renderChoice),
    usage: renderUsage(usage),
    provider: facts.provider,
    warnings: warnings.length > 0 ? warnings : undefined,
    service_tier: answer.tier,
    performance_mode: facts.performanceMode,
  }
}

function renderChoice(choice: AnswerChoice, index: number): ChatCompletion['choices'][number] {
  const { text, reasoning, toolCalls, finish } = choice
  const message = {
    role: 'assistant',
    content: text === '' && toolCalls.length > 0 ? null : text,
    tool_calls: toolCalls.length > 0 ? toolCalls.map(renderToolCall) : undefined,
    reasoning: reasoning === '' ? undefined : reasoning,
  }
  return { index, message, finish_reason: finish, logprobs: null }
}

/** A call as the interface writes it. */
export function renderToolCall(call: ToolCall) {
  return {
    id: call.id,
    type: 'function' as const,
    function: { name: call.name, arguments: call.arguments },
  }
}
