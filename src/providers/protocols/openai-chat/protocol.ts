import type {
  Format,
  Generation,
  Message,
  Part,
  Tool,
  ToolChoice,
} from '../../../domain/generation/request.ts'
import { parseError } from '../error.ts'
import { type Body, collectWarnings, type Protocol, type Target, type Warn } from '../protocol.ts'
import { renderUser } from '../rendering.ts'
import { type Dialect, dropUnsupported, supportedParameters } from './dialect.ts'
import { parseResponse, streamParser, type StreamState } from './parse-response.ts'
import { renderMessages } from './render-messages.ts'
import { withoutWithheld } from './withheld.ts'

/** The protocol of chat completions in one provider's dialect. */
export function openaiChat(dialect: Dialect): Protocol<StreamState> {
  return {
    name: 'openai-chat',
    parameters: supportedParameters(dialect),
    render: collectWarnings((generation, target, warn) => renderRequest(dialect, generation, target, warn)),
    parse: (body) => parseResponse(dialect, body),
    stream: streamParser(dialect),
    parseError,
  }
}

function renderRequest(dialect: Dialect, generation: Generation, target: Target, warn: Warn): Body {
  const body = {
    // First, so that no extra field overrides another field.
    ...withoutWithheld(generation.extras, warn),
    model: target.model,
    messages: renderMessages(messagesFor(generation, dialect), dialect, warn),
    ...renderStream(dialect, target),
    ...renderTools(generation),
    response_format: generation.format && renderFormat(generation.format),
    max_tokens: generation.maxTokens,
    n: generation.choices,
    stop: generation.stop,
    temperature: generation.temperature,
    top_p: generation.topP,
    seed: generation.seed,
    frequency_penalty: generation.frequencyPenalty,
    presence_penalty: generation.presencePenalty,
    logit_bias: generation.logitBias,
    ...renderLogprobs(generation),
    ...renderEffort(dialect, generation, target, warn),
    service_tier: generation.serviceTier,
    user: renderUser(generation),
  }
  const adapted = dialect.adapt?.(body, generation, target, warn) ?? body
  return dropUnsupported(adapted, dialect, generation, target, warn)
}

function renderStream(dialect: Dialect, target: Target): Body | undefined {
  if (!target.stream) return undefined
  return dialect.alwaysSendsUsage
    ? { stream: true }
    : { stream: true, stream_options: { include_usage: true } }
}

function renderTools(generation: Generation): Body | undefined {
  if (generation.tools.length === 0) return undefined
  return {
    tools: generation.tools.map(renderTool),
    tool_choice: generation.toolChoice && renderToolChoice(generation.toolChoice),
    parallel_tool_calls: generation.parallelToolCalls,
  }
}

function renderTool(tool: Tool): Body {
  const { name, description, parameters, strict } = tool
  return { type: 'function', function: { name, description, parameters, strict } }
}

function renderToolChoice(choice: ToolChoice): unknown {
  return typeof choice === 'string' ? choice : { type: 'function', function: { name: choice.name } }
}

/** `text` is the default, and not every provider supports it explicitly. */
function renderFormat(format: Format): Body | undefined {
  if (format.type === 'text') return undefined
  if (format.type === 'json_object') return { type: 'json_object' }
  const { name, description, schema, strict } = format
  return { type: 'json_schema', json_schema: { name, description, schema, strict } }
}

function renderLogprobs({ logprobs }: Generation): Body | undefined {
  return logprobs && { logprobs: true, top_logprobs: logprobs.alternatives }
}

function renderEffort(
  dialect: Dialect,
  generation: Generation,
  target: Target,
  warn: Warn,
): Body | undefined {
  if (generation.effort === undefined) return undefined
  if (!dialect.effort) return { reasoning_effort: generation.effort }
  const fields = dialect.effort(generation.effort, target)
  if (!fields) warn({ what: 'Parameter', name: 'reasoning_effort', by: target.model })
  return fields
}

/**
 * The messages of a request. The markers of a Messages request for Anthropic's cache are removed where the provider does
 * not know them; in a chat completions request the caller has chosen them for this provider.
 */
function messagesFor({ messages, source }: Generation, { cacheControl }: Dialect): readonly Message[] {
  if (source?.protocol !== 'anthropic' || cacheControl || !messages.some(hasMarker)) return messages
  return messages.map((message) =>
    hasMarker(message) ? { ...message, parts: message.parts.map(withoutMarker) } : message,
  )
}

function hasMarker({ parts }: Message): boolean {
  return parts.some((part) => part !== withoutMarker(part))
}

function withoutMarker(part: Part): Part {
  if (part.type === 'foreign') {
    const { cache_control, ...value } = part.value
    return cache_control === undefined ? part : { ...part, value: { ...value, type: part.value.type } }
  }
  if (part.extras?.cache_control === undefined) return part
  const { cache_control: _, ...extras } = part.extras
  return { ...part, extras: Object.keys(extras).length > 0 ? extras : undefined }
}
