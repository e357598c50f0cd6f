import type { Effort } from '../../../domain/generation/request.ts'
import type { Target, Warn } from '../protocol.ts'
import type { Body } from './dialect.ts'
import type { Family, Level, Thinking } from './models.ts'

/** The thinking that an effort asks for, in the terms of the model's family. */
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
  if (effort === 'none' && mandatory(thinking))
    warn(`${model} always reasons; its lowest reasoning effort was used.`)
  const amount = thinking.type === 'budget' ? renderBudget(effort, thinking) : renderLevel(effort, thinking)
  return effort === 'none' ? amount : { ...amount, includeThoughts: true }
}

function mandatory(thinking: Thinking): boolean {
  return thinking.type === 'budget' ? !thinking.optional : thinking.levels[0] !== 'minimal'
}

/** What Google's own compatible endpoint makes of the same words, and more for those that it does not know. */
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
  return { thinkingBudget: Math.min(Math.max(budgets[effort], thinking.least), thinking.most) }
}

const nearest: Readonly<Record<Effort, readonly Level[]>> = {
  none: ['minimal', 'low'],
  minimal: ['minimal', 'low'],
  low: ['low', 'high'],
  medium: ['medium', 'high'],
  high: ['high'],
  xhigh: ['high'],
  max: ['high'],
}

function renderLevel(effort: Effort, { levels }: Thinking & { type: 'level' }): Body {
  return { thinkingLevel: nearest[effort].find((level) => levels.includes(level)) }
}
