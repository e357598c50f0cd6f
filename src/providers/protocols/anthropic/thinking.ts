import type { Effort } from '../../../domain/generation/request.ts'
import type { Warn } from '../protocol.ts'
import type { Traits } from './models.ts'

/** How the model is asked to think. */
export type Thinking = {
  readonly thinking?: Readonly<Record<string, unknown>>
  /** Goes into `output_config`. */
  readonly effort?: string
  /** It thinks, or may think unasked: what it thought before belongs to the conversation. */
  readonly on: boolean
}

/** What the decision depends on beside the model. */
export type Circumstances = {
  readonly model: string
  readonly maxTokens: number
  /** The model has to call a tool. */
  readonly forced: boolean
  /** Nothing that it thought in the tool loop under way was lost. */
  readonly mayGoOn: boolean
}

/** Thinking for an effort, in the terms of the model's generation. */
export function renderThinking(
  effort: Effort | undefined,
  traits: Traits,
  circumstances: Circumstances,
  warn: Warn,
): Thinking {
  const adaptive = traits.thinking === 'adaptive'
  if (effort === undefined) return { on: adaptive }
  if (effort === 'none') return renderNone(traits, circumstances, warn)
  if (adaptive) return think(effortWord(effort, traits))
  const why = traits.thinking === 'none' ? 'it does not reason' : whyNot(circumstances)
  if (why === undefined) {
    const budget_tokens = budgetFor(effort, circumstances.maxTokens)
    return { thinking: { type: 'enabled', budget_tokens }, on: true }
  }
  warn(`${circumstances.model} was not asked to reason: ${why}.`)
  return { on: false }
}

/** Unasked, models with a budget do not think. */
function renderNone(traits: Traits, { model }: Circumstances, warn: Warn): Thinking {
  if (traits.thinking !== 'adaptive') return { on: false }
  if (!traits.thinksAlways) return { thinking: { type: 'disabled' }, on: false }
  warn(`${model} cannot answer without reasoning; effort low was used.`)
  return think('low')
}

/** Without `display` the newer models tell nothing of what they think. */
function think(effort: string): Thinking {
  return { thinking: { type: 'adaptive', display: 'summarized' }, effort, on: true }
}

function effortWord(effort: Effort, { efforts }: Traits): string {
  if (effort === 'minimal') return 'low'
  return efforts.includes(effort) ? effort : 'max'
}

const leastBudget = 1024

/** What Anthropic refuses together with a budget. */
function whyNot({ maxTokens, forced, mayGoOn }: Circumstances): string | undefined {
  if (forced) return 'it has to call a tool, and cannot do both'
  if (!mayGoOn) return 'what it thought earlier in this turn is not known here'
  if (maxTokens <= leastBudget) return `it takes more than ${leastBudget} tokens to do so`
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

/** The budget is part of max_tokens; some of it should be left for the answer. */
function budgetFor(effort: Exclude<Effort, 'none'>, maxTokens: number): number {
  return Math.max(leastBudget, Math.min(budgets[effort], maxTokens - leastBudget))
}
