import { and, type Column, eq, type SQL, sql } from 'drizzle-orm'
import type { AuditQuery } from '../ports/audit.ts'
import { audit_entries as entries } from '../schema/audit.ts'
import type { Dialect } from '../statement.ts'

/** One of these columns has one of these values. */
type Filter = { readonly columns: readonly Column[]; readonly values: readonly string[] }

/**
 * The condition for the entries of a page; undefined without one. A filter without a match reads nothing, however many
 * entries there are: each has an index.
 */
export function selectionOf(query: AuditQuery, dialect: Dialect): SQL | undefined {
  const { organizationId, actorType, order, limit } = query
  const [first, ...others] = filtersOf(query)
  const conditions = and(
    ofOrganization(organizationId, first === undefined || first.columns.includes(entries.event)),
    actorType && eq(entries.actor_type, actorType),
    ...others.map((filter) => matches(filter, dialect)),
    rangeOf(query),
  )
  if (first === undefined) return conditions
  // Each value is read in the order of the page: of several at once, all entries would have to be read and sorted.
  const lists = first.columns.flatMap((column) =>
    [...new Set(first.values)].map(
      (value) => sql`select id from (
        select ${entries.id} as id from ${entries} where ${and(eq(column, value), conditions)}
        order by ${entries.id} ${sql.raw(order)} limit ${limit + 1}) as listed`,
    ),
  )
  return lists.length === 0 ? sql`false` : sql`${entries.id} in (${sql.join(lists, sql` union all `)})`
}

/** The condition for the entries of an organization; undefined for those of all. */
export function ofOrganization(id: string | undefined, isIndexed = true): SQL | undefined {
  const { organization_id: column } = entries
  if (id === undefined) return undefined
  return isIndexed ? eq(column, id) : eq(unindexed(column), id)
}

/** The filters with an index; the one that usually matches the fewest entries comes first. */
function filtersOf({ resources, actors, projects, events }: AuditQuery): readonly Filter[] {
  const filters = [
    { columns: [entries.resource_id, entries.resource_name], values: resources },
    { columns: [entries.actor_id, entries.actor_name], values: actors },
    { columns: [entries.project_id], values: projects },
    { columns: [entries.event], values: events },
  ]
  return filters.flatMap(({ columns, values }) => (values === undefined ? [] : [{ columns, values }]))
}

function matches({ columns, values }: Filter, { isOneOf }: Dialect): SQL {
  const list = sql<readonly string[]>`${sql.param(values)}`
  return sql`(${sql.join(
    columns.map((column) => isOneOf(unindexed(column), list)),
    sql` or `,
  )})`
}

/** The column without its index: the condition is checked on the entries that the first filter finds by its own. */
function unindexed(column: Column): SQL {
  return sql`coalesce(${column}, '')`
}

/** By the id, which begins with the time, so that the order of the page finds the beginning. */
function rangeOf({ since, until, after, order }: AuditQuery): SQL | undefined {
  const follows = order === 'asc' ? sql`>` : sql`<`
  return and(
    since === undefined ? undefined : sql`${entries.id} >= ${firstIdAt(since)}`,
    until === undefined ? undefined : sql`${entries.id} < ${firstIdAt(until)}`,
    after === undefined ? undefined : sql`${entries.id} ${follows} ${after}`,
  )
}

/** The lowest id at this time. */
function firstIdAt(time: number): string {
  return `audit_log-${Math.max(0, Math.ceil(time)).toString(16).padStart(12, '0')}`
}
