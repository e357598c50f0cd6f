import { and, asc, desc, eq, gt, isNotNull, lt } from 'drizzle-orm'
import { timeSortedId } from '../../../lib/id.ts'
import type { Nanos } from '../../../lib/usd.ts'
import type { OrganizationAccount, OrganizationChange, Organizations } from '../../ports/organizations.ts'
import { type ListedPage, type PageQuery, toListedPage } from '../../ports/listed-page.ts'
import { prepareEntryInsert } from '../billing/settlement.ts'
import {
  assertOrganizationName,
  creditedBalance,
  noOrganizationNamed,
  organizationTaken,
  organizationInDeletion,
} from '../../common/organization-rules.ts'
import type { Database } from '../connection/database.ts'
import { read } from '../sqlite-errors.ts'
import { organizations } from '../tables.ts'
import type { Writer } from '../writer/writer.ts'
import { createOrganizationDeletions, type OrganizationDeletions } from './organization-deletion.ts'
import { organizationColumns, organizationExists, toOrganization } from './organization-row.ts'

/** The organizations in the SQLite database. `now` returns milliseconds since 1970. */
export function createOrganizations(
  database: Database,
  writer: Writer,
  now: () => number = Date.now,
): Organizations {
  const deletions = createOrganizationDeletions(database, writer)
  return {
    create: (name) => writer.write(() => insertOrganization(database, name, now())),
    list: () =>
      read(() =>
        selectAccounts(database).where(organizationExists).orderBy(organizations.id).all().map(toAccount),
      ),
    areSeveral: () => read(() => selectIds(database).limit(2).all().length > 1),
    page: (query) => read(() => selectPage(database, query)),
    find: (reference) => read(() => findById(database, reference) ?? findAccount(database, reference)),
    beginDeletion: (name) => writer.write(() => beginDeletion(database, deletions, name)),
    change: (name, change) => writer.write(() => changeOrganization(database, name, change)),
    credit: (name, amount, note) =>
      writer.write(() => creditOrganization(database, name, amount, now(), note)),
    async delete(name, onDeleted) {
      const account = await writer.write(() => beginDeletion(database, deletions, name))
      for await (const rows of deletions.steps(account.id)) {
        onDeleted?.(rows)
        await Bun.sleep(stepIntervalMs)
      }
      return account
    },
  }
}

function selectIds({ query }: Database) {
  return query.select({ id: organizations.id }).from(organizations).where(organizationExists)
}

function selectPage(database: Database, query: PageQuery): ListedPage<OrganizationAccount> | undefined {
  const { after, limit, order } = query
  if (after !== undefined && findById(database, after) === undefined) return undefined
  const [direction, follows] = order === 'asc' ? [asc, gt] : [desc, lt]
  const rows = selectAccounts(database)
    .where(and(organizationExists, after === undefined ? undefined : follows(organizations.id, after)))
    .orderBy(direction(organizations.id))
    .limit(limit + 1)
    .all()
  return toListedPage(rows.map(toAccount), query)
}

/** Part of a transaction: creates an unmetered organization. */
export function insertOrganization(database: Database, name: string, now: number): OrganizationAccount {
  assertOrganizationName(name)
  if (findAccount(database, name) !== undefined) throw organizationTaken(name)
  if (findInDeletion(database, name) !== undefined) throw organizationInDeletion(name)
  database.query
    .insert(organizations)
    .values({ id: timeSortedId('org_'), name, created_at: now })
    .run()
  return accountNamed(database, name)
}

/** Part of a transaction: returns the organization with this name; throws an error for the operator if there is none. */
export function accountNamed(database: Database, name: string): OrganizationAccount {
  const account = findAccount(database, name)
  if (account === undefined) throw noOrganizationNamed(name)
  return account
}

function changeOrganization(
  database: Database,
  name: string,
  change: OrganizationChange,
): OrganizationAccount {
  const { id } = accountNamed(database, name)
  const { billing, requestsPerMinute, tokensPerMinute, concurrentRequests } = change
  database.query
    .update(organizations)
    .set({
      billing,
      requests_per_minute: requestsPerMinute,
      tokens_per_minute: tokensPerMinute,
      concurrent_requests: concurrentRequests,
    })
    .where(eq(organizations.id, id))
    .run()
  return accountNamed(database, name)
}

function creditOrganization(
  database: Database,
  name: string,
  amount: Nanos,
  now: number,
  note?: string,
): OrganizationAccount {
  const account = accountNamed(database, name)
  const balance = creditedBalance(account, amount)
  database.query
    .update(organizations)
    .set({ balance: Number(balance) })
    .where(eq(organizations.id, account.id))
    .run()
  prepareEntryInsert(database)({ organization: account.id, createdAt: now, kind: 'credit', amount, note })
  return { ...account, balance }
}

/** The time between two steps, in which a serving gateway can write. */
const stepIntervalMs = 5

function beginDeletion(
  database: Database,
  deletions: OrganizationDeletions,
  name: string,
): OrganizationAccount {
  const account = findInDeletion(database, name) ?? accountNamed(database, name)
  deletions.begin(account.id)
  return account
}

function findAccount(database: Database, name: string): OrganizationAccount | undefined {
  const row = selectAccounts(database)
    .where(and(eq(organizations.name, name), organizationExists))
    .get()
  return row && toAccount(row)
}

function findById(database: Database, id: string): OrganizationAccount | undefined {
  const row = selectAccounts(database)
    .where(and(eq(organizations.id, id), organizationExists))
    .get()
  return row && toAccount(row)
}

/** Finds an organization whose deletion has begun but not finished. */
function findInDeletion(database: Database, name: string): OrganizationAccount | undefined {
  const row = selectAccounts(database)
    .where(and(eq(organizations.name, name), isNotNull(organizations.deletion)))
    .get()
  return row && toAccount(row)
}

function selectAccounts(database: Database) {
  const { balance, reserved, created_at } = organizations
  return database.query
    .select({ ...organizationColumns, balance, reserved, createdAt: created_at })
    .from(organizations)
    .$dynamic()
}

type AccountRow = NonNullable<ReturnType<ReturnType<typeof selectAccounts>['get']>>

function toAccount(row: AccountRow): OrganizationAccount {
  const { balance, reserved, createdAt, ...organization } = row
  return { ...toOrganization(organization), balance: BigInt(balance), reserved: BigInt(reserved), createdAt }
}
