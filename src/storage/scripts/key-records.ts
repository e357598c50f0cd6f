import { eq, gt, isNull, or, type SQL, sql } from 'drizzle-orm'
import type { KeyPermission } from '../../domain/accounting/organization.ts'
import { missing } from '../common/account-rules.ts'
import type { KeyPageQuery, KeyQueries, KeyRecord } from '../ports/accounts.ts'
import { type ListedPage, toListedPage } from '../ports/listed-pages.ts'
import { api_keys, organizations, projects } from '../schema/organizations.ts'
import { usage, usage_rollup, usage_totals } from '../schema/usage.ts'
import { containsText, ifEqual, nullable, pageBy, type RowOf, select, where } from '../sql.ts'
import {
  type Dialect,
  execute,
  type Parameters,
  type Script,
  type ScriptRunner,
  statement,
} from '../statement.ts'
import { allowanceFields, textsOf, toAllowance } from './allowance.ts'
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
    names: (ids) => read(() => findNames(ids)),
    lastUses: (organizations) => read(() => lastUses(organizations, now())),
  }
}

const findNames = namesIn(api_keys, api_keys.public_id)

/** Returns all keys in the order of their creation. */
function* listKeys(): Script<readonly KeyRecord[]> {
  return (yield* selectAll()).map(toKeyRecord)
}

const selectAll = statement((_, { keyOrder }) => selectKeys(sql`order by ${keyOrder}`))

/** Returns one page by the time of creation: keys are never deleted. Undefined if none that matches has the id `after`. */
function* pageOfKeys(query: KeyPageQuery): Script<ListedPage<KeyRecord> | undefined> {
  const { after, nearEndAt } = query
  const [last] = after === undefined ? [{ position: undefined }] : yield* positionOf(after, query)
  if (last === undefined) return undefined
  const nearEnd = nearEndAt === undefined ? undefined : yield* keysNearEnd(nearEndAt)
  const rows = yield* execute((dialect) =>
    selectKeys(pageBy(dialect.keyOrder, last.position, query, [...filtersOf(query), nearEnd?.(dialect)])),
  )
  return toListedPage(rows.map(toKeyRecord), query)
}

/** A key that was revoked since the previous page, or is not near its end any more, still is a cursor. */
function positionOf(id: string, query: KeyPageQuery): Script<readonly { readonly position: number }[]> {
  const filters = filtersOf({ ...query, unrevoked: false, usableAt: undefined })
  return execute(({ keyOrder }) =>
    select({ position: keyOrder }, sql`from ${api_keys} ${where(eq(api_keys.public_id, id), ...filters)}`),
  )
}

function filtersOf(query: KeyPageQuery): readonly (SQL | undefined)[] {
  const { organizationId, projectId, parentId, permission, unrevoked, usableAt, search } = query
  return [
    ifEqual(api_keys.organization_id, organizationId),
    ifEqual(api_keys.project_id, projectId),
    ifEqual(api_keys.parent_id, parentId),
    // A JSON array of a few fixed words.
    permission && sql`${api_keys.permissions} like ${`%"${permission}"%`}`,
    unrevoked === true || usableAt !== undefined ? isNull(api_keys.revoked_at) : undefined,
    usableAt === undefined ? undefined : or(isNull(api_keys.expires_at), gt(api_keys.expires_at, usableAt)),
    search === undefined ? undefined : containsText([api_keys.name, api_keys.public_id], search),
  ]
}

/** Returns the key; throws an error for the operator if there is none. */
export function* keyWithId(id: string): Script<KeyRecord> {
  const key = yield* findKeyWithId(id)
  if (key === undefined) throw missing(`API key with the ID ${id}`, 'API keys', 'keys')
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

const hourMs = 3_600_000

/**
 * Executes `lastUses` of the keys. It reads the usage, which is recorded anyway, so that no request writes the time: the
 * totals by hour, and the requests of the last hour or that the totals do not count yet.
 */
function* lastUses(organizations: readonly string[], now: number): Script<ReadonlyMap<string, number>> {
  const rows = yield* selectLastUses({ organizations, since: now - hourMs })
  return new Map(rows.map(({ key, time }) => [key, time]))
}

const selectLastUses = statement(
  (values: Parameters<{ organizations: readonly string[]; since: number }>, { isOneOf }: Dialect) => {
    const requests = (since: SQL) =>
      sql`select ${usage.key_id} as key, max(${usage.created_at}) as time from ${usage}
        where ${usage.created_at} >= ${since} and ${isOneOf(usage.organization_id, values.organizations)}
        group by ${usage.key_id}`
    const notCounted = sql`(select ${usage_rollup.until} from ${usage_rollup})`
    return select(
      { key: sql<string>`used.key`, time: sql<number>`max(used.time)` },
      sql`from (
        select ${usage_totals.key_id} as key, max(${usage_totals.start}) as time from ${usage_totals}
          where ${isOneOf(usage_totals.organization_id, values.organizations)} and ${eq(usage_totals.width, 'hour')}
          group by ${usage_totals.key_id}
        union all ${requests(notCounted)} union all ${requests(values.since)}
      ) used group by used.key`,
    )
  },
)
