import { eq, isNull, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import { periodAt } from '../../domain/accounting/budget-period.ts'
import { formatUsd, type Nanos } from '../../lib/usd.ts'
import { invalid, noOrganizationOfKey } from '../common/account-rules.ts'
import {
  type KeyQueries,
  type KeyRecord,
  type MintInput,
  type NewKey,
  OperatorError,
} from '../ports/accounts.ts'
import type { BudgetKey } from '../ports/budgets.ts'
import { api_keys, budgets, organizations } from '../schema/organizations.ts'
import { bare, insertion, select, update } from '../sql.ts'
import { type Parameters, type Script, type ScriptRunner, statement } from '../statement.ts'
import type { Change } from './audit.ts'
import { budgetUse, lockOrganization, ofBudget } from './budgets.ts'
import { keyWithId, lockKey } from './key-records.ts'
import { createKey } from './keys.ts'
import { exists } from './organizations.ts'

/** What keys that other keys have created leave. `now` returns milliseconds since 1970. */
export function createAllocationReturns(
  { read, transact }: ScriptRunner,
  now: () => number = Date.now,
): Pick<KeyQueries, 'returnAllocations'> {
  return {
    async returnAllocations() {
      const ended = await read(() => selectEnded({ now: now() }))
      return ended.length === 0 ? 0 : await transact(() => returnAllocations(ended))
    },
  }
}

/** Creates a key out of the budget of another one; throws an error for the operator if that is too low. */
export function* mintKey(parentId: string, input: MintInput, by: Change): Script<NewKey> {
  const { now } = by
  // The content log of the other key must not change meanwhile: this one has the same.
  yield* lockKey({ id: parentId })
  const { organizationId } = yield* keyWithId(parentId)
  yield* lockOrganization({ organizationId })
  const parent = yield* keyWithId(parentId)
  // Its limits would not reach a third one.
  if (parent.parent !== null)
    throw invalid(`The API key ${parentId} was created by an API key, so it cannot create others.`)
  const { organization } = parent
  if (organization === null) throw noOrganizationOfKey(parentId)
  const [open] = yield* countOpen({ parent: parentId, now })
  if ((open?.keys ?? 0) >= maxOpen) throw tooManyOpen(parentId)
  const project = parent.project?.id ?? null
  const { contentLog } = parent
  const minted = yield* createKey({ ...input, organization, project, contentLog }, by, { parent: parentId })
  const from = yield* allocate(parent, input.budget, now)
  if (from !== undefined) yield* setAllocated({ id: minted.record.id, start: from.start })
  return minted
}

/** The most keys of one key that are neither revoked nor expired. */
const maxOpen = 1000

function tooManyOpen(id: string): Error {
  return invalid(
    `The API key ${id} has ${maxOpen} API keys that are still open. Revoke some of them, or wait until they expire.`,
  )
}

const countOpen = statement((values: Parameters<{ parent: string; now: number }>) =>
  select(
    { keys: sql<number>`count(*)` },
    sql`from ${api_keys} where ${eq(api_keys.parent_id, values.parent)} and ${isNull(api_keys.revoked_at)}
      and (${isNull(api_keys.expires_at)} or ${api_keys.expires_at} > ${values.now})`,
  ),
)

/** Takes an amount from the budget of a key; undefined if it has none. */
function* allocate(parent: KeyRecord, amount: Nanos, now: number): Script<BudgetKey | undefined> {
  const { organizationId, limitsId, limits } = parent
  if (limits.budget === null) return undefined
  const from = { owner: limitsId, start: periodAt(limits.budgetPeriod, limits.budgetTimeZone, now).start }
  const { spent, reserved, held, allocated } = yield* budgetUse(organizationId, from)
  const left = limits.budget - spent - reserved - held - allocated
  if (left < amount) throw tooExpensive(amount, left)
  const key = { owner_id: from.owner, start: from.start, organization_id: organizationId }
  yield* addAllocated({ ...key, allocated: amount })
  return from
}

function tooExpensive(amount: Nanos, left: Nanos): Error {
  const available = formatUsd(left > 0n ? left : 0n)
  return new OperatorError(
    'budget',
    `A budget of ${formatUsd(amount)} USD is more than the ${available} USD that are left of the budget of this API key.`,
  )
}

const addAllocated = insertion(
  budgets,
  ['owner_id', 'start', 'organization_id', 'allocated'],
  sql<never>`on conflict (${bare(budgets.owner_id)}, ${bare(budgets.start)})
    do update set ${bare(budgets.allocated)} = ${budgets.allocated} + excluded.${bare(budgets.allocated)}`,
)

const setAllocated = statement((values: Parameters<{ id: string; start: number | null }>) =>
  update(api_keys, { allocated_in: values.start }, sql`where ${eq(api_keys.public_id, values.id)}`),
)

type EndedKey = { readonly id: string; readonly organizationId: string }

/** Returns what is left of the budgets of keys that have ended, once none of their requests is open. */
function* returnAllocations(ended: readonly EndedKey[]): Script<number> {
  let returned = 0
  for (const { id, organizationId } of ended) {
    yield* lockOrganization({ organizationId })
    if (yield* returnAllocation(id, organizationId)) returned++
  }
  return returned
}

const parents = alias(api_keys, 'parents')

/** The most budgets that are returned in one transaction. */
const maxReturned = sql.raw('100')

/** In the order of their organizations, as every transaction locks them. A key ends with the one that created it. */
const selectEnded = statement((values: Parameters<{ now: number }>, { asReference }) =>
  select(
    { id: api_keys.public_id, organizationId: api_keys.organization_id },
    sql`from ${api_keys} left join ${api_keys} as ${parents} on ${parents.public_id} = ${api_keys.parent_id}
      where ${api_keys.allocated_in} is not null
        and (${api_keys.revoked_at} is not null or ${api_keys.expires_at} <= ${values.now}
          or ${parents.revoked_at} is not null or ${parents.expires_at} <= ${values.now})
        and not exists (select 1 from ${budgets}
          where ${budgets.owner_id} = ${asReference(api_keys.public_id)} and ${budgets.start} = 0 and ${budgets.reserved} > 0)
      order by ${api_keys.organization_id}, ${api_keys.public_id} limit ${maxReturned}`,
  ),
)

/** What the key has spent counts as spent by the one that created it. Another process may have returned it before. */
function* returnAllocation(id: string, organizationId: string): Script<boolean> {
  const [from] = yield* selectAllocated({ id })
  const { spent, held, reserved } = yield* budgetUse(organizationId, { owner: id, start: 0 })
  if (from === undefined || from.start === null || reserved > 0n) return false
  const { start } = from
  const { limitsId: owner } = yield* keyWithId(from.parent ?? '')
  const amount = BigInt(from.budget ?? 0)
  yield* takeBack({ organizationId, owner, start, amount, spent, held })
  yield* closeBudget({ organizationId, id, left: amount > spent ? amount - spent : 0n })
  yield* setAllocated({ id, start: null })
  return true
}

const selectAllocated = statement((values: Parameters<{ id: string }>) =>
  select(
    { start: api_keys.allocated_in, parent: api_keys.parent_id, budget: api_keys.budget },
    sql`from ${api_keys} where ${api_keys.public_id} = ${values.id}`,
  ),
)

type Returned = BudgetKey & { organizationId: string; amount: bigint; spent: bigint; held: bigint }

const takeBack = statement((values: Parameters<Returned>) =>
  update(
    budgets,
    {
      allocated: sql`${budgets.allocated} - ${values.amount}`,
      spent: sql`${budgets.spent} + ${values.spent}`,
      held: sql`${budgets.held} + ${values.held}`,
    },
    ofBudget(values),
  ),
)

/**
 * Leaves nothing of the budget of the key: a process that does not know yet that the key has ended, or an operator who
 * extends it, would spend the amount a second time.
 */
const closeBudget = statement((values: Parameters<{ organizationId: string; id: string; left: bigint }>) => {
  const { owner_id, start, organization_id, allocated, held } = budgets
  return sql<never>`insert into ${budgets}
      (${bare(owner_id)}, ${bare(start)}, ${bare(organization_id)}, ${bare(allocated)})
    select ${values.id}, 0, ${organizations.id}, ${values.left} from ${organizations}
    where ${organizations.id} = ${values.organizationId} and ${exists}
    on conflict (${bare(owner_id)}, ${bare(start)})
      do update set ${bare(allocated)} = excluded.${bare(allocated)}, ${bare(held)} = 0`
})
