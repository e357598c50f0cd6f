import type { Effort } from '../../../domain/generation/request.ts'
import type { Body, Target, Warn } from '../protocol.ts'
import type { Family, Level, Thinking } from './models.ts'

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
