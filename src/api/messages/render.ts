import type { Finish, FinishReason } from '../../domain/generation/events.ts'
import { type Fields, fieldsOf } from '../../lib/json/json.ts'
import { timeSortedId } from '../../lib/id.ts'
import { estimatedUsageWarning, type MeteredUsage } from '../../gateway/billing/meter.ts'
import type { Blocks, OutputBlock } from './blocks.ts'
import type { MessageDelta, MessageObject, MessageUsage } from './reply-schema.ts'

/** The properties of a reply that are known when it begins. */
export type ReplyMetadata = {
  readonly id: string
  /** The slug of the requested model. */
  readonly model: string
  readonly warnings: readonly string[]
}

/** Creates the metadata of a reply that begins now, with a new id. */
export function replyMetadata(properties: Omit<ReplyMetadata, 'id'>): ReplyMetadata {
  return { ...properties, id: timeSortedId('msg_') }
}

/** Renders a message that begins, with the tokens that are known by then. */
export function renderStart(metadata: ReplyMetadata, usage: MeteredUsage, blocks: Blocks): MessageObject {
  return {
    ...renderHead(metadata, []),
    stop_reason: null,
    stop_sequence: null,
    usage: renderUsage({ ...usage, completionTokens: 0, reasoningTokens: undefined }, blocks),
    ...warningsField(metadata.warnings),
  }
}

/** Renders a complete message. */
export function renderMessage(
  metadata: ReplyMetadata,
  content: readonly OutputBlock[],
  usage: MeteredUsage,
  blocks: Blocks,
): MessageObject {
  const { usage: _, ...fields } = fieldsOfEnd(blocks.finish)
  const warnings = [...metadata.warnings, ...usageWarnings(usage)]
  return {
    ...renderHead(metadata, content),
    ...renderStop(blocks),
    ...fields,
    usage: renderUsage(usage, blocks),
    ...warningsField(warnings),
  }
}

/** Renders the end of a streamed message, with all of its tokens. */
export function renderEnd(usage: MeteredUsage, blocks: Blocks): MessageDelta {
  const { usage: _, context_management, ...fields } = fieldsOfEnd(blocks.finish)
  return {
    type: 'message_delta',
    delta: { ...renderStop(blocks), ...fields },
    ...(context_management !== undefined && { context_management }),
    usage: renderUsage(usage, blocks),
    ...warningsField(usageWarnings(usage)),
  }
}

function renderHead(
  { id, model }: ReplyMetadata,
  content: readonly OutputBlock[],
): Pick<MessageObject, 'id' | 'type' | 'role' | 'model' | 'content'> {
  return { id, type: 'message', role: 'assistant', model, content: [...content] }
}

function usageWarnings({ estimated }: MeteredUsage): readonly string[] {
  return estimated ? [estimatedUsageWarning] : []
}

function warningsField(warnings: readonly string[]) {
  return warnings.length > 0 ? { warnings: [...warnings] } : undefined
}

/** Anthropic's own fields, where it has generated the message. */
function fieldsOfEnd(finish: Finish | undefined): Fields {
  return finish?.providerFields?.protocol === 'anthropic' ? finish.providerFields.fields : {}
}

const stopReasons: Readonly<Record<FinishReason, string>> = {
  stop: 'end_turn',
  length: 'max_tokens',
  tool_calls: 'tool_use',
  content_filter: 'refusal',
}

function renderStop({ finish, hasToolUse }: Blocks) {
  return { stop_reason: stopReasonOf(finish, hasToolUse), stop_sequence: finish?.stopSequence ?? null }
}

/** Some providers end with an ordinary stop when the model calls tools. */
function stopReasonOf(finish: Finish | undefined, hasToolUse: boolean): string | null {
  if (finish === undefined) return null
  if (finish.providerReason !== undefined) return finish.providerReason
  if (finish.reason !== 'stop') return stopReasons[finish.reason]
  if (finish.stopSequence !== undefined) return 'stop_sequence'
  return hasToolUse ? 'tool_use' : 'end_turn'
}

/** Renders token counts: those of the cache are no part of `input_tokens`. */
function renderUsage(usage: MeteredUsage, { tier, finish }: Blocks): MessageUsage {
  const { promptTokens, completionTokens, reasoningTokens } = usage
  const read = Math.min(usage.cachedTokens ?? 0, promptTokens)
  const written = Math.min(usage.cacheWriteTokens ?? 0, promptTokens - read)
  const longWritten = Math.min(usage.longCacheWriteTokens ?? 0, written)
  return {
    input_tokens: promptTokens - read - written,
    cache_creation_input_tokens: written,
    cache_read_input_tokens: read,
    cache_creation: {
      ephemeral_5m_input_tokens: written - longWritten,
      ephemeral_1h_input_tokens: longWritten,
    },
    output_tokens: completionTokens,
    ...(reasoningTokens !== undefined && {
      output_tokens_details: { thinking_tokens: Math.min(reasoningTokens, completionTokens) },
    }),
    ...(tier !== undefined && { service_tier: tier === 'default' ? 'standard' : tier }),
    ...fieldsOf(fieldsOfEnd(finish).usage),
  }
}
