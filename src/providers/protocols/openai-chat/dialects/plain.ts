import { nameSet } from '../../../../lib/text.ts'
import type { Dialect } from '../dialect.ts'

/** The chat completions of most providers and inference engines, without differences. */
export function plain(name: string): Dialect {
  // Google's models put the thought signature there and reject the next turn without it.
  return { name, stateField: { on: 'call', field: 'extra_content' } }
}

/** Any provider that the operator names. Kimi models of Moonshot reject the next turn of a tool loop without its reasoning. */
export const openaiCompatible: Dialect = {
  ...plain('openai-compatible'),
  reasoningField: 'reasoning_content',
}

/** Fireworks shows a model its reasoning within a tool loop: https://docs.fireworks.ai/fine-tuning/thinking-history. */
export const fireworks: Dialect = { ...plain('fireworks'), reasoningField: 'reasoning_content' }

/** Together asks for the reasoning of a tool turn: https://docs.together.ai/docs/glm-5-quickstart. */
export const together: Dialect = { ...plain('together'), reasoningField: 'reasoning' }

/** vLLM shows a model its reasoning within a tool loop: https://docs.vllm.ai/en/latest/features/interleaved_thinking. */
export const vllm: Dialect = { ...plain('vllm'), reasoningField: 'reasoning' }

/**
 * Cerebras rejects a few fields. It shows a model its reasoning within a tool loop (`clear_thinking`):
 * https://inference-docs.cerebras.ai/api-reference/chat-completions.
 */
export const cerebras: Dialect = {
  name: 'cerebras',
  unsupported: nameSet('frequency_penalty presence_penalty logit_bias parallel_tool_calls service_tier'),
  reasoningField: 'reasoning',
}

/**
 * Ollama silently ignores two fields, so the gateway warns of them. It shows a model its reasoning within a tool loop
 * (`FromChatRequest` in its `openai/openai.go`).
 */
export const ollama: Dialect = {
  name: 'ollama',
  unsupported: new Set(['n', 'logit_bias']),
  reasoningField: 'reasoning',
}

/** Perplexity searches by itself and does not support tools. */
export const perplexity: Dialect = {
  name: 'perplexity',
  unsupported: nameSet(
    'tools tool_choice parallel_tool_calls n seed logit_bias logprobs top_logprobs service_tier',
  ),
  noDeveloperRole: true,
}

/** Snowflake sends no finish reason. */
export const snowflake: Dialect = { name: 'snowflake', noFinishReason: true }
