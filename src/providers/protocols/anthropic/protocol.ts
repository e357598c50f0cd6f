import type { Parameter } from '../../../domain/generation/parameters.ts'
import { defaultMaxTokens, type Generation } from '../../../domain/generation/request.ts'
import { type Body, collectWarnings, type Protocol, type Target, type Warn } from '../protocol.ts'
import { renderMaxTokens, warnOfFields, warnOfUsed } from '../rendering.ts'
import { renderThinking, type Traits, traitsOf } from './models.ts'
import { parseError, parseResponse, streamParser, type StreamState } from './parse-response.ts'
import {
  canContinueThinking,
  type Conversation,
  renderConversation,
  type Turn,
  withoutThinking,
} from './render-messages.ts'
import { type Block, withoutEmptyLists } from './render-parts.ts'
import { renderSource } from './render-source.ts'
import { forcesCall, type FormatPlan, planFormat, renderTools } from './render-tools.ts'

const supportedParameters: readonly Parameter[] = [
  'temperature',
  'top_p',
  'max_tokens',
  'stop',
  'tools',
  'tool_choice',
  'response_format',
  'reasoning_effort',
  'parallel_tool_calls',
]

/** The Messages protocol of Anthropic. */
export const anthropicMessages = messagesProtocol(traitsOf)

/** The Messages protocol, with the traits that models have at one host. */
function messagesProtocol(traitsFor: (model: string) => Traits): Protocol<StreamState> {
  return {
    name: 'anthropic',
    parameters: new Set(supportedParameters),
    render: collectWarnings((generation, target, warn) => {
      const { source } = generation
      return source?.protocol === 'anthropic'
        ? renderSource(source.body, generation, target, warn)
        : renderRequest(traitsFor(target.model), generation, target, warn)
    }),
    parse: parseResponse,
    stream: streamParser,
    parseError,
  }
}

// Google Cloud enforces schemas only where a policy of the organization allows it.
const messages = messagesProtocol((model) => ({ ...traitsOf(model), supportsSchemas: false }))

/** The Messages protocol of Vertex AI: the model is in the URL, and the version in the body. */
export const vertexMessages: Protocol<StreamState> = {
  ...messages,
  render: collectWarnings(render),
}

function render(generation: Generation, target: Target, warn: Warn): Body {
  const { serviceTier } = generation
  if (serviceTier !== undefined && serviceTier !== 'auto' && serviceTier !== 'default')
    warn({ what: 'Service tier', name: serviceTier, by: 'Vertex' })
  const { model: _, ...body } = messages.render({ ...generation, serviceTier: undefined }, target, warn)
  return { anthropic_version: 'vertex-2023-10-16', ...body }
}

function renderRequest(traits: Traits, generation: Generation, target: Target, warn: Warn): Body {
  const plan = planFormat(generation, traits, target, warn)
  const conversation = renderConversation(generation.messages, warn)
  const tools = renderTools(generation, plan, traits, target, warn)
  const limit = target.maxOutputTokens ?? traits.maxTokens
  const maxTokens =
    renderMaxTokens(generation.maxTokens, limit, target, warn) ?? requiredLimit(target, traits)
  const canContinue = canContinueThinking(conversation.turns)
  const context = { model: target.model, maxTokens, callForced: forcesCall(tools), canContinue }
  const { thinking, effort, enabled } = renderThinking(generation.effort, traits, context, warn)
  const format = plan.by === 'schema' ? { type: 'json_schema', schema: plan.schema } : undefined
  warnUnsupported(generation, warn)
  return {
    model: target.model,
    max_tokens: maxTokens,
    system: renderSystem(conversation, plan),
    messages: renderTurns(conversation.turns, enabled),
    stream: target.stream || undefined,
    ...tools,
    thinking,
    output_config: effort === undefined && !format ? undefined : { effort, format },
    ...renderSampling(generation, traits, thinking !== undefined && enabled, target, warn),
    stop_sequences: renderStop(generation, warn),
    service_tier: renderTier(generation, warn),
    metadata: generation.user === undefined ? undefined : { user_id: generation.user },
  }
}

/** The limit of a request that has none: never more than what is reserved for it. */
function requiredLimit({ maxOutputTokens }: Target, { maxTokens = unknownMaxTokens }: Traits): number {
  return maxOutputTokens ?? Math.min(maxTokens, defaultMaxTokens)
}

/** Every model generates as much. */
const unknownMaxTokens = 8192

/** One text, unless some of its blocks have `cache_control`. */
function renderSystem({ system }: Conversation, plan: FormatPlan): string | readonly Block[] | undefined {
  const all = plan.by === 'prompt' ? [...system, { type: 'text', text: plan.instruction }] : system
  if (all.some((block) => block.cache_control)) return all
  return all.length > 0 ? all.map((block) => block.text).join('\n\n') : undefined
}

function renderTurns(turns: readonly Turn[], withThinkingBlocks: boolean): readonly Turn[] {
  const rendered = withThinkingBlocks ? turns : turns.map(withoutThinking)
  const last = rendered.at(-1)
  if (last?.role !== 'assistant') return rendered
  // A prefilled assistant turn must not end in white space.
  return [...rendered.slice(0, -1), { ...last, content: last.content.map(trimLastBlock) }]
}

function trimLastBlock(block: Block, index: number, { length }: readonly Block[]): Block {
  const { text } = block
  return index === length - 1 && typeof text === 'string' ? { ...block, text: text.trimEnd() } : block
}

function renderStop({ stop = [] }: Generation, warn: Warn): readonly string[] | undefined {
  const supported = stop.filter((text) => text.trim() !== '')
  if (supported.length < stop.length)
    warn('Stop sequences of only whitespace are not supported by anthropic and were ignored.')
  return supported.length > 0 ? supported : undefined
}

function renderTier({ serviceTier }: Generation, warn: Warn): string | undefined {
  if (serviceTier === 'default') return 'standard_only'
  if (serviceTier === 'priority')
    warn('Service tier `priority` requires committed capacity at anthropic; `auto` was used instead.')
  if (serviceTier === 'flex') warn({ what: 'Service tier', name: serviceTier, by: 'anthropic' })
  return serviceTier === 'auto' || serviceTier === 'priority' ? 'auto' : undefined
}

/** Temperature and top_p, as far as the model supports them; 1 is the default of both. */
function renderSampling(
  generation: Generation,
  traits: Traits,
  thinking: boolean,
  target: Target,
  warn: Warn,
) {
  const temperature = generation.temperature === 1 ? undefined : generation.temperature
  const topP = generation.topP === 1 ? undefined : generation.topP
  const by = traits.fixedSampling ? target.model : `${target.model} with reasoning`
  const warnIgnored = (name: string) => warn({ what: 'Parameter', name, by })
  const unsupported = traits.fixedSampling === true || thinking
  if (unsupported && temperature !== undefined) warnIgnored('temperature')
  if (unsupported && topP !== undefined) warnIgnored('top_p')
  if (unsupported || (temperature ?? topP) === undefined) return {}
  if (temperature === undefined) return { top_p: topP }
  if (topP !== undefined)
    warn({ what: 'Parameter', name: 'top_p', by: 'anthropic together with temperature' })
  return { temperature: renderTemperature(temperature, warn) }
}

function renderTemperature(temperature: number, warn: Warn): number {
  if (temperature <= 1) return temperature
  warn('`temperature` was lowered to 1, the maximum of anthropic.')
  return 1
}

function warnUnsupported(generation: Generation, warn: Warn): void {
  const { choices = 1, logitBias = {}, frequencyPenalty = 0, presencePenalty = 0 } = generation
  const used = {
    n: choices > 1,
    seed: generation.seed !== undefined,
    logit_bias: Object.keys(logitBias).length > 0,
    frequency_penalty: frequencyPenalty !== 0,
    presence_penalty: presencePenalty !== 0,
    logprobs: generation.logprobs !== undefined,
  }
  warnOfUsed(used, 'anthropic', warn)
  warnOfFields(withoutEmptyLists(generation.extras), { what: 'Parameter', by: 'anthropic' }, warn)
}
