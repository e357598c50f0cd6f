import { type Static, type TObject, type TProperties, Type } from 'typebox'
import { type AllowanceChange, budgetPeriods } from '../domain/accounting/allowance.ts'
import { isTimeZone } from '../domain/accounting/budget-period.ts'
import { badRequest } from '../lib/errors/errors.ts'
import type { LogFields } from '../lib/log.ts'
import { formatUsd, parseUsd } from '../lib/usd.ts'
import { createValidator } from '../lib/validation/validator.ts'
import { nullish, storableText, stringEnum } from './schema.ts'

/** A field of a limit; absent stays as it is. */
const limit = (description: string) =>
  nullish(Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }), { description })

/** The limits in the body of a change; `none` says what null means for limits of requests and tokens. */
export function limitFields(none: string) {
  return {
    budget_usd: nullish(Type.String({ maxLength: 32 }), {
      description:
        'The most that requests of one period may cost, in USD, such as `5` or `0.50`, with at most nine decimals. Null for no budget.',
    }),
    budget_period: Type.Optional(
      stringEnum(budgetPeriods, {
        description:
          'How often the budget is reset, by the calendar; weeks begin on Monday. `none` for never.',
      }),
    ),
    budget_time_zone: Type.Optional(
      Type.String({
        maxLength: 64,
        description: 'The time zone of the calendar, such as `Europe/Berlin`. `UTC` by default.',
      }),
    ),
    requests_per_minute: limit(`The requests per minute. ${none}`),
    tokens_per_minute: limit(`The tokens per minute. ${none}`),
    concurrent_requests: limit(`The requests at once. ${none}`),
    models: nullish(Type.Array(storableText({ minLength: 1, maxLength: 256 }), { maxItems: 1000 }), {
      description:
        'The allowed models: slugs, aliases, and patterns such as `anthropic/*`. Null for all, an empty list for none.',
    }),
    enabled: Type.Optional(Type.Boolean({ description: 'Whether requests are accepted.' })),
  }
}

type LimitInput = Static<TObject<ReturnType<typeof limitFields>>>

/** Throws the 400 for limits that the schema accepts and that are not valid. */
function checkLimits({ budget_usd, budget_time_zone, models }: LimitInput): void {
  checkModels(models, 'models')
  if (budget_usd != null) parseBudget(budget_usd, 'budget_usd')
  if (budget_time_zone !== undefined && !isTimeZone(budget_time_zone))
    throw invalid('budget_time_zone', 'must be the name of a time zone, such as Europe/Berlin or UTC')
}

/** Each is compared with all models, and with all entries of a key that is created within the list. */
const maxPatterns = 100

/** Throws the 400 for a list of models with more patterns than anyone needs. */
export function checkModels(models: readonly string[] | null | undefined, field: string): void {
  const patterns = models?.filter((entry) => entry.includes('*')) ?? []
  if (patterns.length > maxPatterns)
    throw invalid(field, `must have at most ${maxPatterns} entries with \`*\``)
}

/** Compiles the contract of a body that has no other fields; its limits are checked, if it has some. */
export function closedBody<const Properties extends TProperties>(title: string, properties: Properties) {
  const schema = Type.Object(properties, { title, additionalProperties: false })
  return createValidator(schema, (body: object) => checkLimits(body))
}

/** The same for a body that may be absent, which is read as an empty object. */
export function optionalBody<const Properties extends TProperties>(title: string, properties: Properties) {
  const body = closedBody(title, properties)
  return { ...body, isOptional: true as const, read: (value: unknown = {}) => body.read(value) }
}

/** The same for the body of a change, of which absent fields stay: it has at least one. */
export function changeBody<const Properties extends TProperties>(title: string, properties: Properties) {
  const schema = Type.Object(properties, { title, additionalProperties: false, minProperties: 1 })
  return createValidator(schema, (body: object) => checkLimits(body))
}

/** In nano-dollars: 9 million USD, which the store can count exactly. */
const maxBudget = BigInt(Number.MAX_SAFE_INTEGER)

/** Parses a budget in USD; throws the 400 that names this field. Returns nano-dollars. */
export function parseBudget(usd: string, field: string): bigint {
  const amount = parseUsd(usd)
  if (amount === undefined)
    throw invalid(field, 'must be an amount of USD such as 5 or 0.50, with at most nine decimals')
  if (amount < 0n || amount > maxBudget)
    throw invalid(field, `must be zero or more, and at most ${formatUsd(maxBudget)}`)
  return amount
}

function invalid(field: string, rule: string): Error {
  return badRequest(`Invalid '${field}': ${rule}.`, 'invalid_value', field)
}

/** Converts valid limits of a body. */
export function toAllowanceChange(input: LimitInput): AllowanceChange {
  return {
    budget: input.budget_usd == null ? input.budget_usd : parseBudget(input.budget_usd, 'budget_usd'),
    budgetPeriod: input.budget_period,
    budgetTimeZone: input.budget_time_zone,
    requestsPerMinute: input.requests_per_minute,
    tokensPerMinute: input.tokens_per_minute,
    concurrentRequests: input.concurrent_requests,
    models: input.models,
    enabled: input.enabled,
  }
}

/** The changed limits for the log: the budget in USD, and the models in one text. */
export function loggedLimits(change: AllowanceChange): LogFields {
  const { budget, models } = change
  return {
    budget: budget == null ? budget : formatUsd(budget),
    budgetPeriod: change.budgetPeriod,
    budgetTimeZone: change.budgetTimeZone,
    requestsPerMinute: change.requestsPerMinute,
    tokensPerMinute: change.tokensPerMinute,
    concurrentRequests: change.concurrentRequests,
    models: models == null ? models : models.join(' '),
    enabled: change.enabled,
  }
}
