import { eq, gt, isNull, type SQL, sql } from 'drizzle-orm'
import type { KeyPermission } from '../../domain/accounting/organization.ts'
import { noKeyWithId } from '../common/account-rules.ts'
import type { KeyPageQuery, KeyQueries, KeyRecord } from '../ports/accounts.ts'
import { type ListedPage, toListedPage } from '../ports/listed-pages.ts'
import { api_keys, organizations, projects } from '../schema/organizations.ts'
import { containsText, nullable, type RowOf, select } from '../sql.ts'
import { execute, type Parameters, type Script, type ScriptRunner, statement } from '../statement.ts'
import { allowanceFields, textsOf, toAllowance } from './allowance.ts'
import { lastUses } from './key-use.ts'
import { keysNearEnd } from './near-end.ts'
import { exists } from './organizations.ts'
import { namesIn } from './projects.ts'

/** The API keys of a database. `now` returns milliseconds since 1970. */
export function createKeyQueries(
  { read }: ScriptRunner,
  now: () => number = Date.now,
): Omit<KeyQueries, 'returnAllocations'> {
  return {
    list: () => read(listKeys),
    page: (query) => read(() => pageOfKeys(query)),
    find: (id) => read(() => findKeyWithId(id)),
    names: (ids) => read(() => namesIn(selectNames, ids)),
    lastUses: (organizations) => read(() => lastUses(organizations, now())),
  }
}

const selectNames = statement((values: Parameters<{ ids: readonly string[] }>, { isOneOf }) =>
  select(
    { id: api_keys.public_id, name: api_keys.name },
    sql`from ${api_keys} where ${isOneOf(api_keys.public_id, values.ids)}`,
  ),
)

/** Returns all keys in the order of their creation. */
function* listKeys(): Script<readonly KeyRecord[]> {
  return (yield* selectAll()).map(toKeyRecord)
}

const selectAll = statement((_, { keyOrder }) => selectKeys(sql`order by ${keyOrder}`))

/** Returns one page by the time of creation: keys are never deleted. Undefined if none that matches has the id `after`. */
function* pageOfKeys(query: KeyPageQuery): Script<ListedPage<KeyRecord> | undefined> {
  const { after, order, limit, nearEndAt } = query
  const [last] = after === undefined ? [{ position: undefined }] : yield* positionOf(after, query)
  if (last === undefined) return undefined
  const { position } = last
  const follows = order === 'asc' ? sql`>` : sql`<`
  const nearEnd = nearEndAt === undefined ? undefined : yield* keysNearEnd(nearEndAt)
  const rows = yield* execute((dialect) => {
    const { keyOrder } = dialect
    const conditions = [
      ...(position === undefined ? [] : [sql`${keyOrder} ${follows} ${position}`]),
      ...filtersOf(query),
      ...(nearEnd === undefined ? [] : [nearEnd(dialect)]),
    ]
    const where = conditions.length > 0 ? sql`where ${sql.join(conditions, sql` and `)}` : sql``
    return selectKeys(sql`${where} order by ${keyOrder} ${sql.raw(order)} limit ${limit + 1}`)
  })
  return toListedPage(rows.map(toKeyRecord), query)
}

/** A key that was revoked since the previous page, or is not near its end any more, still is a cursor. */
function positionOf(id: string, query: KeyPageQuery): Script<readonly { readonly position: number }[]> {
  return execute(({ keyOrder }) => {
    const conditions = [
      eq(api_keys.public_id, id),
      ...filtersOf({ ...query, unrevoked: false, usableAt: undefined }),
    ]
    return select({ position: keyOrder }, sql`from ${api_keys} where ${sql.join(conditions, sql` and `)}`)
  })
}

function filtersOf(query: KeyPageQuery): SQL[] {
  const { organizationId, projectId, parentId, permission, unrevoked, usableAt, search } = query
  return [
    ...(organizationId === undefined ? [] : [eq(api_keys.organization_id, organizationId)]),
    ...(projectId === undefined ? [] : [eq(api_keys.project_id, projectId)]),
    ...(parentId === undefined ? [] : [eq(api_keys.parent_id, parentId)]),
    // A JSON array of a few fixed words.
    ...(permission === undefined ? [] : [sql`${api_keys.permissions} like ${`%"${permission}"%`}`]),
    ...(unrevoked === true || usableAt !== undefined ? [isNull(api_keys.revoked_at)] : []),
    ...(usableAt === undefined
      ? []
      : [sql`(${isNull(api_keys.expires_at)} or ${gt(api_keys.expires_at, usableAt)})`]),
    ...(search === undefined ? [] : [containsText([api_keys.name, api_keys.public_id], search)]),
  ]
}

/** Returns the key; throws an error for the operator if there is none. */
export function* keyWithId(id: string): Script<KeyRecord> {
  const key = yield* findKeyWithId(id)
  if (key === undefined) throw noKeyWithId(id)
  return key
}

/** Returns the key; undefined if there is none. */
function* findKeyWithId(id: string): Script<KeyRecord | undefined> {
  const [row] = yield* findKey({ id })
  return row && toKeyRecord(row)
}

const findKey = statement((values: Parameters<{ id: string }>) =>
  selectKeys(sql`where ${eq(api_keys.public_id, values.id)}`),
)

/** Part of a transaction: keeps others from changing a key until its end. */
export const lockKey = statement((values: Parameters<{ id: string }>, { forUpdate }) =>
  select(
    { id: api_keys.public_id },
    sql`from ${api_keys} where ${eq(api_keys.public_id, values.id)} ${forUpdate}`,
  ),
)

const keyFields = {
  id: api_keys.public_id,
  name: api_keys.name,
  organizationId: api_keys.organization_id,
  organization: nullable(organizations.name),
  projectId: api_keys.project_id,
  projectName: nullable(projects.name),
  parent: api_keys.parent_id,
  limitsId: api_keys.limits_id,
  ...allowanceFields(api_keys),
  permissions: api_keys.permissions,
  tags: api_keys.tags,
  note: api_keys.note,
  contentLog: api_keys.content_log,
  last4: api_keys.last4,
  createdAt: api_keys.created_at,
  expiresAt: api_keys.expires_at,
  revokedAt: api_keys.revoked_at,
  replacedBy: api_keys.replaced_by,
}

function selectKeys(rest: SQL) {
  return select(
    keyFields,
    sql`from ${api_keys}
      left join ${organizations} on ${organizations.id} = ${api_keys.organization_id} and ${exists}
      left join ${projects} on ${projects.id} = ${api_keys.project_id} ${rest}`,
  )
}

function toKeyRecord(row: RowOf<typeof keyFields>): KeyRecord {
  return {
    id: row.id,
    name: row.name,
    organizationId: row.organizationId,
    organization: row.organization,
    project: row.projectId === null ? null : { id: row.projectId, name: row.projectName ?? '' },
    parent: row.parent,
    limitsId: row.limitsId ?? row.id,
    limits: toAllowance(row),
    permissions: textsOf(row.permissions) as readonly KeyPermission[],
    tags: textsOf(row.tags),
    note: row.note,
    contentLog: Boolean(row.contentLog),
    last4: row.last4,
    createdAt: row.createdAt,
    expiresAt: row.expiresAt,
    revokedAt: row.revokedAt,
    replacedBy: row.replacedBy,
  }
}
