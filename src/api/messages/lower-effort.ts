import type { Effort } from '../../domain/generation/request.ts'
import type { CountTokensRequest } from './schema.ts'

/**
 * The effort that the thinking of a request stands for; undefined where it leaves that to the model. An explicit effort
 * counts, unless thinking is disabled.
 */
export function lowerEffort({
  thinking,
  output_config,
}: Pick<CountTokensRequest, 'thinking' | 'output_config'>): Effort | undefined {
  const effort = output_config?.effort ?? undefined
  switch (thinking?.type) {
    case 'disabled':
      return 'none'
    case 'enabled':
      return effort ?? effortForBudget(thinking.budget_tokens ?? 0)
    case 'adaptive':
      return effort ?? 'high'
    default:
      return effort
  }
}

/** The largest budgets of the efforts, in tokens: a larger one is the next effort. */
const budgets: readonly (readonly [maxTokens: number, effort: Effort])[] = [
  [1536, 'minimal'],
  [5000, 'low'],
  [13_000, 'medium'],
  [24_000, 'high'],
  [48_000, 'xhigh'],
]

function effortForBudget(tokens: number): Effort {
  return budgets.find(([maxTokens]) => tokens <= maxTokens)?.[1] ?? 'max'
}
