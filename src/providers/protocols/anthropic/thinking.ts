import type { Effort } from '../../../domain/generation/request.ts'
import type { Warn } from '../protocol.ts'
import type { Traits } from './models.ts'

/** The thinking fields of a request. */
export type Thinking = {
  readonly thinking?: Readonly<Record<string, unknown>>
  /** The effort in `output_config`. */
  readonly effort?: string
  /** The model thinks, or may think by default: its earlier thinking blocks belong to the conversation. */
  readonly enabled: boolean
}

/** The parts of the request that thinking depends on. */
export type ThinkingContext = {
  readonly model: string
  readonly maxTokens: number
  /** The model is forced to call a tool. */
  readonly callForced: boolean
  /** The thinking blocks of the current tool loop are complete. */
  readonly canContinue: boolean
}

/** Renders an effort in the form that the model's generation supports. */
export function renderThinking(
  effort: Effort | undefined,
  traits: Traits,
  context: ThinkingContext,
  warn: Warn,
): Thinking {
  const adaptive = traits.thinking === 'adaptive'
  if (effort === undefined) return { enabled: adaptive }
  if (effort === 'none') return renderNone(traits, context, warn)
  if (adaptive) return adaptiveThinking(effortFor(effort, traits))
  const obstacle = traits.thinking === 'none' ? 'it does not support reasoning' : budgetObstacle(context)
  if (obstacle === undefined) {
    const budget_tokens = budgetFor(effort, context.maxTokens)
    return { thinking: { type: 'enabled', budget_tokens }, enabled: true }
  }
  warn(`Reasoning was disabled for ${context.model}: ${obstacle}.`)
  return { enabled: false }
}

/** Models with a budget do not think by default. */
function renderNone(traits: Traits, { model }: ThinkingContext, warn: Warn): Thinking {
  if (traits.thinking !== 'adaptive') return { enabled: false }
  if (!traits.alwaysThinks) return { thinking: { type: 'disabled' }, enabled: false }
  warn(`Reasoning cannot be disabled for ${model}; reasoning effort \`low\` was used instead.`)
  return adaptiveThinking('low')
}

/** Without `display`, the newer models return no thinking text. */
function adaptiveThinking(effort: string): Thinking {
  return { thinking: { type: 'adaptive', display: 'summarized' }, effort, enabled: true }
}

function effortFor(effort: Effort, { efforts }: Traits): string {
  if (effort === 'minimal') return 'low'
  return efforts.includes(effort) ? effort : 'max'
}

const minBudget = 1024

/** The reason why Anthropic would reject a thinking budget; undefined where it accepts one. */
function budgetObstacle({ maxTokens, callForced, canContinue }: ThinkingContext): string | undefined {
  if (callForced) return 'it does not support reasoning together with a forced tool call'
  if (!canContinue) return 'the reasoning of an earlier tool call is not available'
  if (maxTokens <= minBudget) return `reasoning requires \`max_tokens\` above ${minBudget}`
  return undefined
}

const budgets: Readonly<Record<Exclude<Effort, 'none'>, number>> = {
  minimal: 1024,
  low: 2048,
  medium: 10_000,
  high: 16_384,
  xhigh: 32_768,
  max: 32_768,
}

/** The budget is part of max_tokens, and must leave some tokens for the text. */
function budgetFor(effort: Exclude<Effort, 'none'>, maxTokens: number): number {
  return Math.max(minBudget, Math.min(budgets[effort], maxTokens - minBudget))
}
