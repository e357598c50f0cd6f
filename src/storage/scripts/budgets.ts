import { eq, type SQL, sql } from 'drizzle-orm'
import { formatUsd, type Nanos } from '../../lib/usd.ts'
import type { Actor } from '../ports/audit.ts'
import type { BudgetKey, BudgetQueries, Budgets, BudgetUse } from '../ports/budgets.ts'
import { budgets, organizations } from '../schema/organizations.ts'
import { type RowOf, select, update } from '../sql.ts'
import { type Parameters, type Script, type ScriptRunner, statement } from '../statement.ts'
import { recordChange } from './audit.ts'
import { describeOwner } from './webhook-events.ts'

/** The budgets of a database and their use. */
export function createBudgetQueries({ read }: ScriptRunner): BudgetQueries {
  return { read: (organizationId, keys) => read(() => readBudgets(organizationId, keys)) }
}

/** The same with the changes of an actor. */
export function createBudgets(runner: ScriptRunner, actor: Actor): Budgets {
  return {
    ...createBudgetQueries(runner),
    releaseHeld: (organizationId, key) => runner.transact(() => releaseHeld(organizationId, key, actor)),
  }
}

const unused: BudgetUse = { spent: 0n, reserved: 0n, held: 0n, allocated: 0n }

/** Reads the budgets of each period with one statement. */
function* readBudgets(organizationId: string, keys: readonly BudgetKey[]): Script<readonly BudgetUse[]> {
  const found = new Map<string, BudgetUse>()
  for (const [start, members] of Map.groupBy(keys, (key) => key.start)) {
    const owners = members.map(({ owner }) => owner)
    for (const row of yield* selectUses({ organizationId, start, owners }))
      found.set(`${start} ${row.owner}`, toBudgetUse(row))
  }
  return keys.map(({ owner, start }) => found.get(`${start} ${owner}`) ?? unused)
}

/** Reads what is spent of a budget. */
export function* budgetUse(organizationId: string, { owner, start }: BudgetKey): Script<BudgetUse> {
  const [use = unused] = yield* readBudgets(organizationId, [{ owner, start }])
  return use
}

function toBudgetUse({ spent, reserved, held, allocated }: RowOf<typeof useFields>): BudgetUse {
  return {
    spent: BigInt(spent),
    reserved: BigInt(reserved),
    held: BigInt(held),
    allocated: BigInt(allocated),
  }
}

const useFields = {
  owner: budgets.owner_id,
  spent: budgets.spent,
  reserved: budgets.reserved,
  held: budgets.held,
  allocated: budgets.allocated,
}

type Uses = { readonly organizationId: string; readonly start: number; readonly owners: readonly string[] }

const selectUses = statement((values: Parameters<Uses>, { isOneOf }) =>
  select(
    useFields,
    sql`from ${budgets} where ${eq(budgets.organization_id, values.organizationId)}
      and ${eq(budgets.start, values.start)} and ${isOneOf(budgets.owner_id, values.owners)}`,
  ),
)

type BudgetValues = BudgetKey & { readonly organizationId: string }

/** Locks the organization, as every change of a budget does. */
export const lockOrganization = statement((values: Parameters<{ organizationId: string }>, { forUpdate }) =>
  select(
    { id: organizations.id, name: organizations.name },
    sql`from ${organizations} where ${eq(organizations.id, values.organizationId)} ${forUpdate}`,
  ),
)

function* releaseHeld(organizationId: string, key: BudgetKey, actor: Actor): Script<Nanos> {
  const [organization = { id: organizationId, name: null }] = yield* lockOrganization({ organizationId })
  const { held } = yield* budgetUse(organizationId, key)
  if (held <= 0n) return held
  yield* clearHeld({ organizationId, ...key })
  const resource = yield* describeOwner(key.owner, organization)
  const [before, after] = [{ held_usd: formatUsd(held) }, { held_usd: formatUsd(0n) }]
  yield* recordChange({ actor }, { event: 'budget.released', resource, organization, before, after })
  return held
}

const clearHeld = statement((values: Parameters<BudgetValues>) =>
  update(budgets, { held: 0 }, ofBudget(values)),
)

/** The condition of one budget. */
export function ofBudget({ organizationId, owner, start }: Parameters<BudgetValues>): SQL<never> {
  return sql`where ${budgets.owner_id} = ${owner} and ${budgets.start} = ${start}
    and ${budgets.organization_id} = ${organizationId}`
}
