import { sql } from 'drizzle-orm'
import type { Organization } from '../../domain/accounting/organization.ts'
import { timeSortedId } from '../../lib/id.ts'
import { formatUsd, type Nanos } from '../../lib/usd.ts'
import {
  assertOrganizationName,
  creditedBalance,
  invalid,
  noOrganizationNamed,
  organizationTaken,
} from '../common/account-rules.ts'
import type { OrganizationAccount, OrganizationChange, Organizations } from '../ports/accounts.ts'
import type { AuditEvent } from '../ports/audit.ts'
import { ledger, organizations } from '../schema/organizations.ts'
import { insertion, pick, returning, select, update } from '../sql.ts'
import { type Parameters, type Script, type ScriptRunner, statement } from '../statement.ts'
import { allowanceColumns, type AllowanceRow, changedAllowance } from './allowance.ts'
import { type Audited, type Change, recordChange } from './audit.ts'
import { organizationValues } from './audit-fields.ts'
import { createOrganizationDeletions } from './organization-deletion.ts'
import {
  accountFields,
  accountNamed,
  createOrganizationQueries,
  lockedAccount,
  toAccount,
} from './organizations.ts'

/** The organizations of a database, with the changes of an actor. */
export function createOrganizations(runner: ScriptRunner, by: () => Change): Organizations {
  const { transact } = runner
  const deletions = createOrganizationDeletions(runner)
  const hide = (name: string) => transact(() => beginDeletion(name, by()))
  return {
    ...createOrganizationQueries(runner),
    create: (name, settings) => transact(() => createOrganization(name, by(), settings)),
    beginDeletion: hide,
    change: (name, change) => transact(() => changeOrganization(name, change, by())),
    credit: (name, amount, note) => transact(() => creditOrganization({ name, amount, note }, by())),
    async delete(name, onDeleted) {
      const account = await hide(name)
      for await (const rows of deletions.steps(account.id)) {
        onDeleted?.(rows)
        await Bun.sleep(stepIntervalMs)
      }
      return account
    },
  }
}

/** The time between two steps, in which a serving gateway can write. */
const stepIntervalMs = 5

/** Creates an organization, by default an unmetered one; throws an error for the operator if it cannot have this name. */
export function* createOrganization(
  name: string,
  by: Change,
  settings: Omit<OrganizationChange, 'name'> = {},
): Script<OrganizationAccount> {
  yield* assertFree(name)
  if (!(yield* addOrganization(name, by.now))) throw organizationTaken(name)
  const created = yield* changedOrganization(yield* accountNamed(name), settings)
  yield* recordCreated(created, by)
  return created
}

/** Part of a transaction: writes the entry of a new organization. */
export function recordCreated(account: OrganizationAccount, by: Change): Script<void> {
  return recordOrganization('organization.created', account, by, {
    before: null,
    after: organizationValues(account),
  })
}

function recordOrganization(
  event: AuditEvent,
  { id, name }: OrganizationAccount,
  by: Change,
  values: Pick<Audited, 'before' | 'after'>,
): Script<void> {
  return recordChange(by, {
    event,
    resource: { type: 'organization', id, name },
    organization: { id, name },
    ...values,
  })
}

/** Throws an error for the operator if no organization can be given this name. */
function* assertFree(name: string): Script<void> {
  assertOrganizationName(name)
  for (const { deletion } of yield* findDeletion({ name }))
    throw deletion === null
      ? organizationTaken(name)
      : invalid(
          `The organization ${name} is still being deleted. To finish the deletion, run: weir orgs delete ${name} --yes`,
        )
}

const findDeletion = statement(({ name }: Parameters<{ name: string }>) =>
  select(
    { deletion: organizations.deletion },
    sql`from ${organizations} where ${organizations.name} = ${name}`,
  ),
)

/** Returns false if there is one with this name. */
export function* addOrganization(name: string, now: number): Script<boolean> {
  return (yield* insertOrganization({ id: timeSortedId('org_'), name, created_at: now })).length > 0
}

const insertOrganization = insertion(
  organizations,
  ['id', 'name', 'created_at'],
  sql<object>`on conflict do nothing returning 1`,
)

/** Changes the name, the billing and the limits that the change names. */
function* changeOrganization(
  name: string,
  change: OrganizationChange,
  by: Change,
): Script<OrganizationAccount> {
  const account = yield* accountNamed(name)
  const changed = yield* changedOrganization(account, change)
  const [before, after] = [organizationValues(account), organizationValues(changed)]
  yield* recordOrganization('organization.updated', changed, by, { before, after })
  return changed
}

function* changedOrganization(
  account: OrganizationAccount,
  change: OrganizationChange,
): Script<OrganizationAccount> {
  const { name = account.name, billing = account.billing } = change
  if (name !== account.name) yield* assertFree(name)
  yield* updateOrganization({ id: account.id, name, billing, ...changedAllowance(account.limits, change) })
  return yield* accountNamed(name)
}

type OrganizationRow = AllowanceRow & Pick<Organization, 'id' | 'name' | 'billing'>

const updateOrganization = statement((values: Parameters<OrganizationRow>) =>
  update(
    organizations,
    pick(values, ['name', 'billing', ...allowanceColumns]),
    sql`where ${organizations.id} = ${values.id}`,
  ),
)

type Credit = { readonly name: string; readonly amount: Nanos; readonly note?: string | undefined }

/** Adds to the balance; a negative amount is a correction, and cannot take reserved money. */
function* creditOrganization({ name, amount, note }: Credit, by: Change): Script<OrganizationAccount> {
  const account = yield* accountNamed(name)
  const balance = creditedBalance(account, amount)
  yield* setBalance({ id: account.id, balance })
  const entry = { id: timeSortedId('led_'), organization_id: account.id, created_at: by.now, amount }
  yield* insertCredit({ ...entry, kind: 'credit', note: note ?? null })
  yield* recordOrganization('organization.credited', account, by, {
    before: { balance_usd: formatUsd(account.balance) },
    after: { balance_usd: formatUsd(balance), note },
  })
  return { ...account, balance }
}

const setBalance = statement((values: Parameters<{ id: string; balance: bigint }>) =>
  update(organizations, { balance: values.balance }, sql`where ${organizations.id} = ${values.id}`),
)

const insertCredit = insertion(ledger, ['id', 'organization_id', 'created_at', 'kind', 'amount', 'note'])

/** Hides the organization, also one whose deletion has begun: from then on nothing is stored for it. */
export function* beginDeletion(name: string, by: Change): Script<OrganizationAccount> {
  const existing = yield* lockedAccount(name)
  const [row] = yield* hide({ name })
  if (row === undefined) throw noOrganizationNamed(name)
  const account = toAccount(row)
  const before = { ...organizationValues(account), balance_usd: formatUsd(account.balance) }
  if (existing) yield* recordOrganization('organization.deleted', account, by, { before, after: null })
  return account
}

const hide = statement((values: Parameters<{ name: string }>) =>
  update(
    organizations,
    { deletion: 'begun' },
    returning(
      accountFields,
      sql`where ${organizations.name} = ${values.name} and ${organizations.deletion} is distinct from 'done'`,
    ),
  ),
)
