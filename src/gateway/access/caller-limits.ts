import type { Allowance, Budget } from '../../domain/accounting/allowance.ts'
import type { BillingMode, Organization } from '../../domain/accounting/organization.ts'
import type { KnownKey } from '../../storage/ports/known-keys.ts'

/** The limits of the requests of a key, beside its organization's rate limits. */
export type CallerLimits = {
  /** The budgets that apply: of the organization, the project and the key, in this order. */
  readonly budgets: readonly Budget[]
  /** The project and the keys that have rate limits of their own. */
  readonly rateLimited: readonly RateLimitOwner[]
  /** Undefined if every model is allowed. */
  readonly models: ModelLists | undefined
}

/** How the organization of a request pays, and the budgets that the request counts against. */
export type Payer = { readonly billing: BillingMode; readonly budgets: readonly Budget[] }

/** A project or a key with rate limits of its own. */
export type RateLimitOwner = {
  /** The id that its limits have: a key and those that replace it share theirs. */
  readonly id: string
  /** As messages name it, after “for”. */
  readonly title: string
  readonly limits: Pick<Allowance, 'requestsPerMinute' | 'tokensPerMinute' | 'concurrentRequests'>
}

/** The lists of models that apply to a key; all of them must allow a model. */
export type ModelLists = {
  readonly lists: readonly (readonly string[])[]
  /** The same for lists with the same entries. */
  readonly id: string
}

/** Those of a key that nothing limits; shared, so that its requests allocate none. */
export const noCallerLimits: CallerLimits = { budgets: [], rateLimited: [], models: undefined }

/** An owner of limits, as the key directory knows it. */
type Owner = { readonly id: string; readonly name: string; readonly limits: Allowance }

/**
 * What limits a key. The budget of a key that another one created was taken from that of the other, so it counts alone; all
 * else that limits the other limits it as well.
 */
export function callerLimits(key: KnownKey, organization: Organization): CallerLimits {
  const { project, parent } = key
  const own = { id: key.limitsId, name: key.name, limits: key.limits }
  const budgets = [
    ...budgetOf('organization', organization),
    ...(project ? budgetOf('project', project) : []),
    ...budgetOf('key', own),
  ]
  const rateLimited = [
    ...(project ? rateLimitsOf('the project', project) : []),
    ...(parent ? rateLimitsOf('the key that created this one', { id: parent.limitsId, ...parent }) : []),
    ...rateLimitsOf('the key', own),
  ]
  const models = modelLists([organization, project, parent, own])
  if (budgets.length + rateLimited.length === 0 && models === undefined) return noCallerLimits
  return { budgets, rateLimited, models }
}

function budgetOf(kind: Budget['kind'], { id, name, limits }: Owner): readonly Budget[] {
  const { budget, budgetPeriod: period, budgetTimeZone: timeZone } = limits
  return budget === null ? [] : [{ owner: id, kind, name, amount: budget, period, timeZone }]
}

function rateLimitsOf(
  title: string,
  { id, limits }: Pick<Owner, 'id' | 'limits'>,
): readonly RateLimitOwner[] {
  const { requestsPerMinute, tokensPerMinute, concurrentRequests } = limits
  const hasNone = requestsPerMinute === null && tokensPerMinute === null && concurrentRequests === null
  return hasNone ? [] : [{ id, title, limits: { requestsPerMinute, tokensPerMinute, concurrentRequests } }]
}

function modelLists(owners: readonly (Pick<Owner, 'limits'> | null)[]): ModelLists | undefined {
  const lists = owners.flatMap((owner) => (owner?.limits.models ? [owner.limits.models] : []))
  return lists.length === 0 ? undefined : { lists, id: JSON.stringify(lists) }
}
