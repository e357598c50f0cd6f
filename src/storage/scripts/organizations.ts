import { isNull, type SQL, sql } from 'drizzle-orm'
import type { Organization } from '../../domain/accounting/organization.ts'
import { noOrganizationNamed } from '../common/account-rules.ts'
import type { OrganizationAccount, OrganizationPageQuery, OrganizationQueries } from '../ports/accounts.ts'
import { type ListedPage, toListedPage } from '../ports/listed-pages.ts'
import { organizations } from '../schema/organizations.ts'
import { containsText, pageBy, type RowOf, select } from '../sql.ts'
import { allowanceFields, toAllowance } from './allowance.ts'
import { organizationsNearEnd } from './near-end.ts'
import { execute, type Parameters, type Script, type ScriptRunner, statement } from '../statement.ts'

/** The organizations of a database. */
export function createOrganizationQueries({ read }: ScriptRunner): OrganizationQueries {
  const page = (query: OrganizationPageQuery) => read(() => pageOfOrganizations(query))
  return {
    list: () => read(listOrganizations),
    areSeveral: async () => (await page({ limit: 1, order: 'asc' }))?.hasMore === true,
    page,
    find: (reference) => read(() => findOrganization(reference)),
  }
}

/** Whether an organization exists; one whose deletion has begun does not. */
export const exists = isNull(organizations.deletion)

/** The columns that `toOrganization` reads. */
export const organizationFields = {
  id: organizations.id,
  name: organizations.name,
  billing: organizations.billing,
  ...allowanceFields(organizations),
}

/** Converts the columns of an organization. */
export function toOrganization(row: RowOf<typeof organizationFields>): Organization {
  const { id, name, billing } = row
  return { id, name, billing, limits: toAllowance(row) }
}

/** Returns all organizations, the oldest first. */
function* listOrganizations(): Script<readonly OrganizationAccount[]> {
  return (yield* selectAll()).map(toAccount)
}

const selectAll = statement(() => selectAccounts(sql`where ${exists} order by ${organizations.id}`))

/** Returns one page by the time of creation; undefined if there is no organization with the id `after`. */
function* pageOfOrganizations(
  query: OrganizationPageQuery,
): Script<ListedPage<OrganizationAccount> | undefined> {
  const { after, search, nearEndAt } = query
  if (after !== undefined && (yield* findById({ id: after })).length === 0) return undefined
  const found = search === undefined ? undefined : containsText(searched, search)
  const nearEnd = nearEndAt === undefined ? undefined : yield* organizationsNearEnd(nearEndAt)
  const rows = yield* execute((dialect) =>
    selectAccounts(pageBy(organizations.id, after, query, [exists, found, nearEnd?.(dialect)])),
  )
  return toListedPage(rows.map(toAccount), query)
}

const searched = [organizations.name, organizations.id]

/** Finds an organization by its id or by its name, which may be the id of another one: the id precedes. */
function* findOrganization(reference: string): Script<OrganizationAccount | undefined> {
  const [found] = [...(yield* findById({ id: reference })), ...(yield* findByName({ name: reference }))]
  return found && toAccount(found)
}

/** Locks the organization with this name, and returns it; throws an error for the operator if there is none. */
export function* accountNamed(name: string): Script<OrganizationAccount> {
  const account = yield* lockedAccount(name)
  if (account === undefined) throw noOrganizationNamed(name)
  return account
}

/** The same; undefined if there is none. */
export function* lockedAccount(name: string): Script<OrganizationAccount | undefined> {
  const [row] = yield* lockByName({ name })
  return row && toAccount(row)
}

const findById = statement((values: Parameters<{ id: string }>) =>
  selectAccounts(sql`where ${organizations.id} = ${values.id} and ${exists}`),
)

const findByName = statement((values: Parameters<{ name: string }>) =>
  selectAccounts(sql`where ${organizations.name} = ${values.name} and ${exists}`),
)

const lockByName = statement((values: Parameters<{ name: string }>, { forUpdate }) =>
  selectAccounts(sql`where ${organizations.name} = ${values.name} and ${exists} ${forUpdate}`),
)

/** The columns that `toAccount` reads. */
export const accountFields = {
  ...organizationFields,
  balance: organizations.balance,
  reserved: organizations.reserved,
  createdAt: organizations.created_at,
}

function selectAccounts(rest: SQL) {
  return select(accountFields, sql`from ${organizations} ${rest}`)
}

/** Converts the columns of an organization with its balance. */
export function toAccount(row: RowOf<typeof accountFields>): OrganizationAccount {
  const { balance, reserved, createdAt } = row
  return { ...toOrganization(row), balance: BigInt(balance), reserved: BigInt(reserved), createdAt }
}
