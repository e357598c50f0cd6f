import { Type } from 'typebox'
import { type BudgetPeriod, budgetPeriods } from '../../domain/accounting/allowance.ts'
import { stringEnum, text, textOrNull } from '../schema.ts'

/** The meaning of null for the limits of an organization. */
export const noOrganizationLimit = 'Null for the limit of the settings.'

/** The meaning of null for the limits of a project or a key. */
export const noOwnLimit = 'Null for no limit of its own.'

const limitOrNull = (description: string) => Type.Union([Type.Integer(), Type.Null()], { description })

/** The properties of a budget in its period, with what is left of it. */
export const budgetProperties = {
  limit_usd: text('The budget of each period in USD.'),
  spent_usd: text('The cost of the requests of this period.'),
  reserved_usd: text('What open requests can still cost.'),
  held_usd: text('What requests of servers that were killed may have cost at their providers.'),
  allocated_usd: text('What the budgets of API keys that were created out of this one have taken.'),
  left_usd: text('What is left for new requests.'),
  resets_at: textOrNull('When the next period begins, in ISO 8601; null for a budget without periods.'),
}

/** A budget with what is left of it. */
export const BudgetObject = Type.Object(budgetProperties, { title: 'Budget' })

/** The limits of an object, as replies have them. */
export function limitProperties(none: string) {
  return {
    budget_usd: textOrNull('The most that requests of one period may cost, in USD; null for no budget.'),
    budget_period: stringEnum<readonly BudgetPeriod[]>(budgetPeriods, {
      description: 'How often the budget is reset.',
    }),
    budget_time_zone: text('The time zone of its calendar.'),
    requests_per_minute: limitOrNull(`The requests per minute. ${none}`),
    tokens_per_minute: limitOrNull(`The tokens per minute. ${none}`),
    concurrent_requests: limitOrNull(`The requests at once. ${none}`),
    models: Type.Union([Type.Array(Type.String()), Type.Null()], {
      description: 'The allowed models and patterns; null for all.',
    }),
    enabled: Type.Boolean({ description: 'Whether requests are accepted.' }),
    budget: Type.Union([BudgetObject, Type.Null()], {
      description: 'What is left of the budget; null without one.',
    }),
  }
}
