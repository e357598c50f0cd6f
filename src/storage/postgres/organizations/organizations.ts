import { timeSortedId } from '../../../lib/id.ts'
import type { Nanos } from '../../../lib/usd.ts'
import {
  assertOrganizationName,
  creditedBalance,
  noOrganizationNamed,
  organizationInDeletion,
  organizationTaken,
} from '../../common/organization-rules.ts'
import { type ListedPage, type PageQuery, toListedPage } from '../../ports/listed-page.ts'
import type { OrganizationAccount, OrganizationChange, Organizations } from '../../ports/organizations.ts'
import type { Query } from '../connection/connections.ts'
import type { Database } from '../connection/database.ts'
import { createOrganizationDeletions } from './organization-deletion.ts'
import { accountColumns, type AccountRow, toAccount } from './organization-row.ts'

/** The organizations in the PostgreSQL database. `now` returns milliseconds since 1970. */
export function createOrganizations(database: Database, now: () => number = Date.now): Organizations {
  const { query, transact } = database
  const deletions = createOrganizationDeletions(database)
  return {
    create: (name) => transact((query) => insertOrganization(query, name, now())),
    async list() {
      const rows = await query<AccountRow>(
        `SELECT ${accountColumns} FROM organizations o WHERE deletion IS NULL ORDER BY id`,
      )
      return rows.map(toAccount)
    },
    areSeveral: async () =>
      (await query('SELECT FROM organizations WHERE deletion IS NULL LIMIT 2')).length > 1,
    page: (page) => selectPage(query, page),
    async find(reference) {
      const [row] = await query<AccountRow>(findAccount, [reference])
      return row && toAccount(row)
    },
    beginDeletion: (name) => transact((query) => beginDeletion(query, name)),
    change: (name, change) => transact((query) => changeOrganization(query, name, change)),
    credit: (name, amount, note) =>
      transact((query) => creditOrganization(query, { name, amount, note, now: now() })),
    async delete(name, onDeleted) {
      const account = await transact((query) => beginDeletion(query, name))
      for await (const rows of deletions.steps(account.id)) onDeleted?.(rows)
      return account
    },
  }
}

/** One organization may have the id of another one as its name; the id precedes. */
const findAccount = `SELECT ${accountColumns} FROM organizations o WHERE (id = $1 OR name = $1) AND deletion IS NULL
  ORDER BY id = $1 DESC LIMIT 1`

/** Part of a transaction: creates an unmetered organization. */
export async function insertOrganization(
  query: Query,
  name: string,
  now: number,
): Promise<OrganizationAccount> {
  assertOrganizationName(name)
  const inserted = await query<AccountRow>(
    `INSERT INTO organizations AS o (id, name, created_at) VALUES ($1, $2, $3)
    ON CONFLICT (name) DO NOTHING RETURNING ${accountColumns}`,
    [timeSortedId('org_'), name, now],
  )
  const [row] = inserted
  if (row !== undefined) return toAccount(row)
  throw (await lockAccount(query, name)) === undefined
    ? organizationInDeletion(name)
    : organizationTaken(name)
}

/** Part of a transaction: returns the organization with this name; throws an error for the operator if there is none. */
export async function accountNamed(query: Query, name: string): Promise<OrganizationAccount> {
  const account = await lockAccount(query, name)
  if (account === undefined) throw noOrganizationNamed(name)
  return account
}

async function selectPage(
  query: Query,
  page: PageQuery,
): Promise<ListedPage<OrganizationAccount> | undefined> {
  const { after, limit, order } = page
  const select = `SELECT ${accountColumns} FROM organizations o WHERE deletion IS NULL`
  const known = after === undefined || (await query(`${select} AND id = $1`, [after])).length > 0
  if (!known) return undefined
  const rows = await query<AccountRow>(
    `${select} ${after === undefined ? '' : `AND id ${order === 'asc' ? '>' : '<'} $2`} ORDER BY id ${order} LIMIT $1`,
    [limit + 1, ...(after === undefined ? [] : [after])],
  )
  return toListedPage(rows.map(toAccount), page)
}

async function changeOrganization(
  query: Query,
  name: string,
  change: OrganizationChange,
): Promise<OrganizationAccount> {
  const { id } = await accountNamed(query, name)
  const columns = {
    billing: change.billing,
    requests_per_minute: change.requestsPerMinute,
    tokens_per_minute: change.tokensPerMinute,
    concurrent_requests: change.concurrentRequests,
  }
  const changed = Object.entries(columns).filter(([, value]) => value !== undefined)
  const assignments = changed.map(([column], index) => `${column} = $${index + 2}`)
  if (changed.length > 0)
    await query(`UPDATE organizations SET ${assignments.join()} WHERE id = $1`, [
      id,
      ...changed.map(([, value]) => value),
    ])
  return await accountNamed(query, name)
}

type Credit = {
  readonly name: string
  readonly amount: Nanos
  readonly note: string | undefined
  readonly now: number
}

async function creditOrganization(
  query: Query,
  { name, amount, note = undefined, now }: Credit,
): Promise<OrganizationAccount> {
  const account = await accountNamed(query, name)
  const balance = creditedBalance(account, amount)
  await query('UPDATE organizations SET balance = $2 WHERE id = $1', [account.id, balance])
  await query(
    `INSERT INTO ledger (id, organization_id, created_at, kind, amount, note) VALUES ($1, $2, $3, 'credit', $4, $5)`,
    [timeSortedId('led_'), account.id, now, amount, note ?? null],
  )
  return { ...account, balance }
}

/** Hides the organization; from then on nothing is stored for it. */
async function beginDeletion(query: Query, name: string): Promise<OrganizationAccount> {
  const [row] = await query<AccountRow>(
    `UPDATE organizations o SET deletion = 'begun' WHERE name = $1 AND deletion IS DISTINCT FROM 'done'
    RETURNING ${accountColumns}`,
    [name],
  )
  if (row === undefined) throw noOrganizationNamed(name)
  return toAccount(row)
}

async function lockAccount(query: Query, name: string): Promise<OrganizationAccount | undefined> {
  const [row] = await query<AccountRow>(
    `SELECT ${accountColumns} FROM organizations o WHERE name = $1 AND deletion IS NULL FOR NO KEY UPDATE`,
    [name],
  )
  return row && toAccount(row)
}
