import type { Effort } from '../../../domain/generation/request.ts'
import type { Warn } from '../protocol.ts'

/** The differences of one generation of Claude models. */
export type Traits = {
  /** `adaptive`: as much as an effort allows; `budget`: up to a number of tokens; `none`: not at all. */
  readonly thinking: 'adaptive' | 'budget' | 'none'
  /** The model rejects `disabled` thinking. */
  readonly alwaysThinks?: boolean
  /** The efforts that the model supports. */
  readonly efforts: readonly string[]
  /** The model rejects temperature and top_p. */
  readonly fixedSampling?: boolean
  /** The model rejects a tool choice that forces a call. */
  readonly rejectsForcedCalls?: boolean
  /** The model supports structured output with a JSON schema. */
  readonly supportsSchemas?: boolean
  /** The maximum output tokens of one response, where known. */
  readonly maxTokens?: number
}

/** The traits of a model, by its name at Anthropic or at a cloud. */
export function traitsOf(model: string): Traits {
  return generations.find(([name]) => name.test(model))?.[1] ?? otherModel
}

const fourEfforts = ['low', 'medium', 'high', 'max']
const allEfforts = ['low', 'medium', 'high', 'xhigh', 'max']

const newest: Traits = {
  thinking: 'adaptive',
  efforts: allEfforts,
  fixedSampling: true,
  supportsSchemas: true,
  maxTokens: 128_000,
}
const budgeted: Traits = { thinking: 'budget', efforts: [], maxTokens: 64_000 }

/**
 * The first match applies. Sources: Anthropic's model overview, its pages on thinking and structured outputs, and
 * observed errors.
 */
const generations: readonly (readonly [RegExp, Traits])[] = [
  [/fable|mythos|(opus|sonnet)-5[-.]5/, { ...newest, alwaysThinks: true, rejectsForcedCalls: true }],
  [/opus-4[-.][78]|(opus|sonnet)-5/, newest],
  [/(opus|sonnet)-4[-.]6/, { ...newest, efforts: fourEfforts, fixedSampling: false }],
  [/(opus|sonnet|haiku)-4[-.]5/, { ...budgeted, supportsSchemas: true }],
  [/opus-4[-.]1/, { ...budgeted, supportsSchemas: true, maxTokens: 32_000 }],
  [/sonnet-4|3[-.]7-sonnet/, budgeted],
  [/opus-4/, { ...budgeted, maxTokens: 32_000 }],
  [/3[-.]5-(sonnet|haiku)/, { thinking: 'none', efforts: [], maxTokens: 8192 }],
  [/claude-(3|2|instant)/, { thinking: 'none', efforts: [], maxTokens: 4096 }],
  // An unknown Claude model is most like the newest ones.
  [/claude/, { ...newest, maxTokens: undefined }],
]

/** A model of another provider behind the same API. */
const otherModel: Traits = { thinking: 'budget', efforts: [] }

/** The thinking fields of a request. */
type Thinking = {
  readonly thinking?: Readonly<Record<string, unknown>>
  /** The effort in `output_config`. */
  readonly effort?: string
  /** The model thinks, or may think by default: its earlier thinking blocks belong to the conversation. */
  readonly enabled: boolean
}

/** The parts of the request that thinking depends on. */
type ThinkingContext = {
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
