import { and, type Column, eq, type SQL, sql } from 'drizzle-orm'
import type { AuditQuery } from '../ports/audit.ts'
import { audit_entries as entries } from '../schema/audit.ts'
import type { Dialect } from '../statement.ts'

/** One of these columns has one of these values. */
type Filter = { readonly columns: readonly Column[]; readonly values: readonly string[] }

/** A page, or the part of it up to an entry, which one step reads. */
export type AuditStep = AuditQuery & { readonly last?: string | undefined }

/**
 * The condition for the entries of a page; undefined without one. A filter without a match reads nothing, however many
 * entries there are: each has an index.
 */
export function selectionOf(query: AuditStep, dialect: Dialect): SQL | undefined {
  const { organizationId, actorType, order, limit } = query
  const [first, ...others] = filtersOf(query)
  const conditions = and(
    ofOrganization(organizationId, isOrganizationIndexed(first)),
    actorType && eq(entries.actor_type, actorType),
    ...others.map((filter) => matches(filter, dialect)),
    rangeOf(query),
  )
  if (first === undefined) return conditions
  // Each value is read in the order of the page: of several at once, all entries would have to be read and sorted.
  const lists = listsOf(first).map(
    (list) => sql`select id from (
      select ${entries.id} as id from ${entries} where ${and(list, conditions)}
      order by ${entries.id} ${sql.raw(order)} limit ${limit + 1}) as listed`,
  )
  return lists.length === 0 ? sql`false` : sql`${entries.id} in (${sql.join(lists, sql` union all `)})`
}

/** The entries that one step compares with the conditions that have no index. */
const stepEntries = 4000

/**
 * Selects how far one step reads in the entries of each value of the first filter: the last id, if there are as many as
 * `length`. Undefined for a query of which every condition has an index: it needs one step.
 */
export function selectStep(query: AuditQuery): { readonly ends: SQL; readonly length: number } | undefined {
  const { organizationId, actorType, order } = query
  const [first, ...others] = filtersOf(query)
  const isOrganizationChecked = organizationId !== undefined && !isOrganizationIndexed(first)
  if (first === undefined || (others.length === 0 && !actorType && !isOrganizationChecked)) return undefined
  const lists = listsOf(first)
  if (lists.length === 0) return undefined
  const length = Math.ceil(stepEntries / lists.length)
  const last = order === 'asc' ? sql`max(id)` : sql`min(id)`
  const ends = lists.map(
    (list) => sql`select ${last} as last, count(*) as entries from (
      select ${entries.id} as id from ${entries} where ${and(list, rangeOf(query))}
      order by ${entries.id} ${sql.raw(order)} limit ${length}) as listed`,
  )
  return { ends: sql.join(ends, sql` union all `), length }
}

/** The conditions of the values of a filter, each of which has an index. */
function listsOf({ columns, values }: Filter): readonly SQL[] {
  return columns.flatMap((column) => [...new Set(values)].map((value) => eq(column, value)))
}

/** Only the event has an index together with the organization. */
function isOrganizationIndexed(first: Filter | undefined): boolean {
  return first === undefined || first.columns.includes(entries.event)
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
function rangeOf({ since, until, after, last, order }: AuditStep): SQL | undefined {
  const follows = order === 'asc' ? sql`>` : sql`<`
  const precedes = order === 'asc' ? sql`<=` : sql`>=`
  return and(
    last === undefined ? undefined : sql`${entries.id} ${precedes} ${last}`,
    since === undefined ? undefined : sql`${entries.id} >= ${firstIdAt(since)}`,
    until === undefined ? undefined : sql`${entries.id} < ${firstIdAt(until)}`,
    after === undefined ? undefined : sql`${entries.id} ${follows} ${after}`,
  )
}

/** The lowest id at this time. */
function firstIdAt(time: number): string {
  return `audit_log-${Math.max(0, Math.ceil(time)).toString(16).padStart(12, '0')}`
}
