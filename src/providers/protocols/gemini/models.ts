import type { Effort } from '../../../domain/generation/request.ts'
import type { Body, Target, Warn } from '../protocol.ts'

/** The differences between the Gemini API and Vertex AI. */
export type Dialect = {
  /** The provider's name in warnings. */
  readonly name: string
  /** Tool calls and their results have ids; elsewhere only the name relates them. */
  readonly callIds?: boolean
  /** The body supports a service tier. */
  readonly serviceTier?: boolean
}

/** The differences of one family of Google's models. */
export type Family = {
  /** How the amount of thinking is configured; absent where it is fixed. */
  readonly thinking?: Thinking
  /** The model rejects a tool call of the current turn without its signature. */
  readonly signed?: boolean
  /** The model supports a response schema together with tools. */
  readonly schemaBesideTools?: boolean
}

/** A number of tokens, or a level. */
type Thinking =
  | { readonly type: 'budget'; readonly min: number; readonly max: number; readonly optional: boolean }
  | { readonly type: 'level'; readonly levels: readonly Level[] }

/** In ascending order. */
type Level = 'minimal' | 'low' | 'medium' | 'high'

/** The family of a model, by its name; an unknown name belongs to the newest family. */
export function familyOf(model: string): Family {
  return families.find(([pattern]) => pattern.test(model))?.[1] ?? newest
}

const newest: Family = {
  thinking: { type: 'level', levels: ['minimal', 'low', 'medium', 'high'] },
  signed: true,
  schemaBesideTools: true,
}

// Sources, also of the budget ranges: Google's pages on thinking, thought signatures and structured output.
const families: readonly (readonly [RegExp, Family])[] = [
  [/gemini-(1|2\.0)|gemini-2\.5-flash-image|gemma-[1-3]|learnlm/, {}],
  [/gemini-2\.5-pro/, budgeted(128, 32_768, false)],
  [/gemini-2\.5-flash-lite/, budgeted(512, 24_576, true)],
  [/gemini-2\.5/, budgeted(1, 24_576, true)],
  [/gemma-4/, { thinking: { type: 'level', levels: ['minimal', 'high'] } }],
  // An alias that moves from one generation to the next: both support a budget.
  [/-latest$/, { ...newest, ...budgeted(1, 24_576, true) }],
  [
    /gemini-3(\.1)?-pro|gemini-3\.7-flash/,
    { ...newest, thinking: { type: 'level', levels: ['low', 'medium', 'high'] } },
  ],
]

function budgeted(min: number, max: number, optional: boolean): Family {
  return { thinking: { type: 'budget', min, max, optional } }
}

/** Renders an effort as the thinking budget or level that the model's family supports. */
export function renderThinking(
  effort: Effort | undefined,
  { thinking }: Family,
  { model }: Target,
  warn: Warn,
): Body | undefined {
  if (effort === undefined) return undefined
  if (!thinking) {
    if (effort !== 'none') warn({ what: 'Parameter', name: 'reasoning_effort', by: model })
    return undefined
  }
  if (effort === 'none' && isMandatory(thinking))
    warn(`Reasoning cannot be disabled for ${model}; its lowest reasoning effort was used instead.`)
  const amount = thinking.type === 'budget' ? renderBudget(effort, thinking) : renderLevel(effort, thinking)
  return effort === 'none' ? amount : { ...amount, includeThoughts: true }
}

function isMandatory(thinking: Thinking): boolean {
  return thinking.type === 'budget' ? !thinking.optional : thinking.levels[0] !== 'minimal'
}

/** The budgets of Google's OpenAI-compatible endpoint, and higher ones for efforts that it does not have. */
const budgets: Readonly<Record<Effort, number>> = {
  none: 0,
  minimal: 512,
  low: 1024,
  medium: 8192,
  high: 24_576,
  xhigh: 32_768,
  max: 32_768,
}

function renderBudget(effort: Effort, thinking: Thinking & { type: 'budget' }): Body {
  if (effort === 'none' && thinking.optional) return { thinkingBudget: 0 }
  return { thinkingBudget: Math.min(Math.max(budgets[effort], thinking.min), thinking.max) }
}

const nearestLevels: Readonly<Record<Effort, readonly Level[]>> = {
  none: ['minimal', 'low'],
  minimal: ['minimal', 'low'],
  low: ['low', 'high'],
  medium: ['medium', 'high'],
  high: ['high'],
  xhigh: ['high'],
  max: ['high'],
}

function renderLevel(effort: Effort, { levels }: Thinking & { type: 'level' }): Body {
  return { thinkingLevel: nearestLevels[effort].find((level) => levels.includes(level)) }
}
