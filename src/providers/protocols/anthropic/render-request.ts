import type { Generation } from '../../../domain/generation/request.ts'
import type { Target, Warn } from '../protocol.ts'
import type { Traits } from './models.ts'
import { type Conversation, renderConversation } from './render-messages.ts'
import { forcesCall, renderTools } from './render-tools.ts'
import { type FormatPlan, planFormat } from './response-format.ts'
import { renderThinking } from './thinking.ts'
import { type Block, mayGoOnThinking, type Turn, withoutThoughts } from './turns.ts'
import { tellLeftOut } from './unsupported.ts'

/** The body of a Messages request to a model with these traits. */
export function renderRequest(
  traits: Traits,
  generation: Generation,
  target: Target,
  warn: Warn,
): Record<string, unknown> {
  const plan = planFormat(generation, traits, target, warn)
  const conversation = renderConversation(generation.messages, warn)
  const tools = renderTools(generation, plan, traits, target, warn)
  const maxTokens = renderMaxTokens(generation, traits, target, warn)
  const mayGoOn = mayGoOnThinking(conversation.turns)
  const circumstances = { model: target.model, maxTokens, forced: forcesCall(tools), mayGoOn }
  const { thinking, effort, on } = renderThinking(generation.effort, traits, circumstances, warn)
  const format = plan.by === 'schema' ? { type: 'json_schema', schema: plan.schema } : undefined
  tellLeftOut(generation, warn)
  return {
    model: target.model,
    max_tokens: maxTokens,
    system: renderSystem(conversation, plan),
    messages: renderTurns(conversation.turns, on),
    stream: target.stream || undefined,
    ...tools,
    thinking,
    output_config: effort === undefined && !format ? undefined : { effort, format },
    ...renderSampling(generation, traits, thinking !== undefined && on, target, warn),
    stop_sequences: renderStop(generation, warn),
    service_tier: renderTier(generation, warn),
    metadata: generation.user === undefined ? undefined : { user_id: generation.user },
  }
}

/** What is asked for where neither the caller nor the catalog says a number. */
const usualMaxTokens = 8192

function renderMaxTokens({ maxTokens }: Generation, traits: Traits, target: Target, warn: Warn): number {
  const limit = target.maxOutputTokens ?? traits.maxTokens
  if (maxTokens === undefined) return limit ?? usualMaxTokens
  if (limit === undefined || maxTokens <= limit) return maxTokens
  warn(`${target.model} answers with at most ${limit} tokens; max_tokens was lowered to that.`)
  return limit
}

/** One text, unless parts of it are to be cached. */
function renderSystem({ system }: Conversation, plan: FormatPlan): string | readonly Block[] | undefined {
  const all = plan.by === 'words' ? [...system, { type: 'text', text: plan.words }] : system
  if (all.some((block) => block.cache_control)) return all
  return all.length > 0 ? all.map((block) => block.text).join('\n\n') : undefined
}

function renderTurns(turns: readonly Turn[], withThoughts: boolean): readonly Turn[] {
  const shown = withThoughts ? turns : turns.map(withoutThoughts)
  const last = shown.at(-1)
  if (last?.role !== 'assistant') return shown
  // The beginning of an answer must not end in white space.
  return [...shown.slice(0, -1), { ...last, content: last.content.map(endTrimmed) }]
}

function endTrimmed(block: Block, index: number, { length }: readonly Block[]): Block {
  const { text } = block
  return index === length - 1 && typeof text === 'string' ? { ...block, text: text.trimEnd() } : block
}

function renderStop({ stop = [] }: Generation, warn: Warn): readonly string[] | undefined {
  const taken = stop.filter((text) => text.trim() !== '')
  if (taken.length < stop.length)
    warn('Stop sequences of white space alone are not supported by anthropic and were ignored.')
  return taken.length > 0 ? taken : undefined
}

function renderTier({ serviceTier }: Generation, warn: Warn): string | undefined {
  if (serviceTier === 'default') return 'standard_only'
  if (serviceTier === 'priority')
    warn('anthropic gives priority only as far as it was bought; auto was asked for.')
  if (serviceTier === 'flex') warn({ what: 'Service tier', name: serviceTier, by: 'anthropic' })
  return serviceTier === 'auto' || serviceTier === 'priority' ? 'auto' : undefined
}

/** Temperature and top_p, as far as the model takes them. 1 is what they are anyway. */
export function renderSampling(
  generation: Generation,
  traits: Traits,
  thinks: boolean,
  target: Target,
  warn: Warn,
) {
  const temperature = generation.temperature === 1 ? undefined : generation.temperature
  const topP = generation.topP === 1 ? undefined : generation.topP
  const by = traits.fixedSampling ? target.model : `${target.model} while it reasons`
  const leaveOut = (name: string) => warn({ what: 'Parameter', name, by })
  const refused = traits.fixedSampling === true || thinks
  if (refused && temperature !== undefined) leaveOut('temperature')
  if (refused && topP !== undefined) leaveOut('top_p')
  if (refused || (temperature ?? topP) === undefined) return {}
  if (temperature === undefined) return { top_p: topP }
  if (topP !== undefined)
    warn({ what: 'Parameter', name: 'top_p', by: 'anthropic together with temperature' })
  return { temperature: lowered(temperature, warn) }
}

function lowered(temperature: number, warn: Warn): number {
  if (temperature <= 1) return temperature
  warn('anthropic takes a temperature of at most 1; it was lowered to that.')
  return 1
}
