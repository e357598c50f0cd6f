import { eq } from 'drizzle-orm'
import { timeSortedId } from '../lib/id.ts'
import type { Database } from './database.ts'
import { type Organization, organizationColumns, toOrganization } from './organization.ts'
import { read } from './outage.ts'
import { organizations } from './tables.ts'
import type { Writer } from './writer.ts'

/** An organization as the operator sees it. */
export type OrganizationAccount = Organization & {
  /** Nano-dollars. */
  readonly balance: number
  readonly createdAt: number
}

/** The organizations of a gateway. Each rejects with a sentence for the operator. */
export type Organizations = {
  create(name: string): Promise<OrganizationAccount>
  list(): Promise<readonly OrganizationAccount[]>
  /** Its data goes with it; its keys stay, without an owner. */
  delete(name: string): Promise<OrganizationAccount>
}

export function createOrganizations(
  database: Database,
  writer: Writer,
  now: () => number = Date.now,
): Organizations {
  return {
    create: (name) => writer.write(() => insertOrganization(database, name, now())),
    list: () => read(() => selectAccounts(database).orderBy(organizations.id).all().map(toAccount)),
    delete: (name) => writer.write(() => deleteOrganization(database, name)),
  }
}

/** Part of a transaction: a new unmetered organization. */
export function insertOrganization(database: Database, name: string, now: number): OrganizationAccount {
  if (!/^[\p{L}\p{N}]([\p{L}\p{N} ._-]{0,62}[\p{L}\p{N}])?$/u.test(name))
    throw new Error(
      'The name of an organization has 1 to 64 letters, digits, spaces, dots, dashes or underscores, and begins ' +
        'and ends with a letter or digit.',
    )
  if (findAccount(database, name) !== undefined)
    throw new Error(`An organization with the name ${name} exists already.`)
  database.query
    .insert(organizations)
    .values({ id: timeSortedId('org_'), name, created_at: now })
    .run()
  return accountNamed(database, name)
}

/** Part of a transaction: the organization of that name, which must exist. */
export function accountNamed(database: Database, name: string): OrganizationAccount {
  const account = findAccount(database, name)
  if (account === undefined)
    throw new Error(`There is no organization with the name ${name}. weir orgs list shows those that exist.`)
  return account
}

function deleteOrganization(database: Database, name: string): OrganizationAccount {
  const account = accountNamed(database, name)
  // What it owns goes by its foreign keys.
  database.query.delete(organizations).where(eq(organizations.id, account.id)).run()
  return account
}

function findAccount(database: Database, name: string): OrganizationAccount | undefined {
  const row = selectAccounts(database).where(eq(organizations.name, name)).get()
  return row && toAccount(row)
}

function selectAccounts(database: Database) {
  const { balance, created_at } = organizations
  return database.query
    .select({ ...organizationColumns, balance, createdAt: created_at })
    .from(organizations)
    .$dynamic()
}

type AccountRow = NonNullable<ReturnType<ReturnType<typeof selectAccounts>['get']>>

function toAccount(row: AccountRow): OrganizationAccount {
  return { ...toOrganization(row), balance: row.balance, createdAt: row.createdAt }
}
