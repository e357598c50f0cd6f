import { defaultMaxTokens, type Generation } from '../../../domain/generation/request.ts'
import { isSealedState } from '../../../domain/generation/sealed-state.ts'
import { type Fields, fieldsOf, isObject, listOf, numberOf } from '../../../lib/json/json.ts'
import { nameSet } from '../../../lib/text.ts'
import { type IdOf, uniqueCallIds } from '../call-ids.ts'
import { isEngineField } from '../openai-chat/withheld.ts'
import type { Body, Target, Warn } from '../protocol.ts'
import { renderCallId } from './render-messages.ts'

/**
 * Renders a request that came in as a Messages request: as the caller wrote it, except for the model, what the gateway
 * has removed from the generation, and thinking blocks of other providers, which Anthropic would reject.
 */
export function renderSource(source: Fields, generation: Generation, target: Target, warn: Warn): Body {
  const { messages, ...fields } = source
  const body = Object.fromEntries(Object.entries(fields).filter(([name]) => isSent(name, generation, warn)))
  const idOf = uniqueCallIds()
  const sent = listOf(messages).map((message, turn) => renderMessage(message, turn, idOf))
  return {
    ...body,
    ...renderThinking(body, generation),
    model: target.model,
    max_tokens: generation.maxTokens ?? lowest(numberOf(fields.max_tokens), target.maxOutputTokens),
    stream: target.stream || undefined,
    messages: sent.filter(hasContent),
  }
}

/** Every request needs a limit, also where the model has no parameter for it: never more than what is reserved then. */
function lowest(limit: number | undefined, maxOutputTokens = defaultMaxTokens): number | undefined {
  return limit === undefined ? undefined : Math.min(limit, maxOutputTokens)
}

/** The field of the generation that has to be set for the field to be sent. */
const generationFields: Readonly<Record<string, keyof Generation>> = {
  temperature: 'temperature',
  top_p: 'topP',
  stop_sequences: 'stop',
  tool_choice: 'toolChoice',
}

/**
 * Beside those of engines: fields that change the price of the tokens, which is not known here, those that refer to the account of the gateway,
 * and those that Google Cloud accepts in place of headers.
 */
const ignored = nameSet(
  'speed inference_geo fallbacks fallback_credit_token billing_policy workspace_id user_profile_id anthropic_beta ' +
    'anthropic_version betas',
)

function isSent(name: string, generation: Generation, warn: Warn): boolean {
  if (name === 'thread') return false
  if (ignored.has(name) || isEngineField(name)) {
    warn({ what: 'Parameter', name })
    return false
  }
  if (name === 'tools') return generation.tools.length > 0 || (generation.providerTools ?? []).length > 0
  const field = Object.hasOwn(generationFields, name) ? generationFields[name] : undefined
  return field === undefined || generation[field] !== undefined
}

const thinkingTypes: ReadonlySet<unknown> = new Set(['enabled', 'adaptive', 'disabled'])

/** Without the thinking and the format that the gateway has removed, because the model does not support them. */
function renderThinking({ thinking, output_config, output_format }: Fields, generation: Generation): Fields {
  const { effort, format } = generation
  const { effort: sentEffort, format: sentFormat, ...config } = fieldsOf(output_config)
  const kept = {
    ...config,
    ...(effort !== undefined && { effort: sentEffort }),
    ...(format !== undefined && { format: sentFormat }),
  }
  const isRemoved = effort === undefined && thinkingTypes.has(fieldsOf(thinking).type)
  return {
    thinking: isRemoved ? undefined : thinking,
    output_config: Object.values(kept).some((value) => value !== undefined) ? kept : undefined,
    output_format: format === undefined ? undefined : output_format,
  }
}

function renderMessage(message: unknown, turn: number, idOf: IdOf): Fields {
  const { content, ...fields } = fieldsOf(message)
  if (!Array.isArray(content)) return { ...fields, content }
  const sent = content.filter((block) => !isOfAnotherProvider(block))
  return { ...fields, content: sent.map((block) => withValidIds(block, turn, idOf)) }
}

function hasContent({ content }: Fields): boolean {
  return !Array.isArray(content) || content.length > 0
}

/** The signature of a thinking block that the gateway has made for the reasoning of another provider. */
function isOfAnotherProvider(block: unknown): boolean {
  const { type, signature, data } = fieldsOf(block)
  return (
    (type === 'thinking' && isSealedState(signature)) || (type === 'redacted_thinking' && isSealedState(data))
  )
}

/** Other providers make ids that Anthropic rejects: in other forms, or the same ones in each turn. */
function withValidIds(block: unknown, turn: number, idOf: IdOf): unknown {
  if (!isObject(block)) return block
  if (block.type === 'tool_use' && typeof block.id === 'string')
    return { ...block, id: renderCallId(idOf(block.id, turn)) }
  if (block.type !== 'tool_result' || typeof block.tool_use_id !== 'string') return block
  return { ...block, tool_use_id: renderCallId(idOf(block.tool_use_id)) }
}
