import { and, type Column, eq, getTableColumns, lt, sql, type SQL } from 'drizzle-orm'
import { camelCase } from '../../lib/text.ts'
import { startOfIds, timeOf, timeSortedId } from '../../lib/id.ts'
import { fieldsOf, parseJson } from '../../lib/json/json.ts'
import { stepRows } from '../common/store-limits.ts'
import type {
  Actor,
  AuditEntry,
  AuditEvent,
  AuditFields,
  AuditLog,
  AuditQuery,
  AuditResource,
} from '../ports/audit.ts'
import { type ListedPage, toListedPage } from '../ports/listed-pages.ts'
import { audit_entries as entries } from '../schema/audit.ts'
import { insertInto, returning, type RowOf, select } from '../sql.ts'
import {
  type Dialect,
  execute,
  type Parameters,
  type Script,
  type ScriptRunner,
  statement,
} from '../statement.ts'
import { boundedFields, changedFields } from './audit-fields.ts'

/** Who changes something, and when: every script that changes what operators manage needs it. */
export type Change = {
  readonly actor: Actor
  /** Milliseconds since 1970. */
  readonly now: number
}

/** What an entry says of a change. */
export type Audited = {
  readonly event: AuditEvent
  readonly resource: AuditResource
  readonly organization?: { readonly id: string; readonly name: string | null } | undefined
  readonly projectId?: string | null | undefined
  /** All fields; null for what did not exist, or does not any more. */
  readonly before: AuditFields | null
  readonly after: AuditFields | null
}

/** Part of a transaction: writes the entry of a change, unless the change has changed nothing. */
export function* recordChange({ actor }: Pick<Change, 'actor'>, audited: Audited): Script<void> {
  const { event, resource, organization, projectId = null } = audited
  const changed = changedFields(audited.before, audited.after)
  if (changed === undefined) return
  const id = timeSortedId('audit_log-')
  yield* insertEntry({
    id,
    createdAt: timeOf(id),
    event,
    actorType: actor.type,
    actorId: actor.id,
    actorName: actor.name,
    source: actor.source,
    address: actor.address,
    forwardedFor: actor.forwardedFor,
    resourceType: resource.type,
    resourceId: resource.id,
    resourceName: resource.name,
    organizationId: organization?.id ?? null,
    organizationName: organization?.name ?? null,
    projectId,
    before: textOf(changed.before),
    after: textOf(changed.after),
  })
}

function textOf(fields: AuditFields | null): string | null {
  return fields && JSON.stringify(boundedFields(fields))
}

const fields = camelCase(getTableColumns(entries))

const insertEntry = statement((values: Parameters<RowOf<typeof fields>>) =>
  insertInto(
    entries,
    Object.fromEntries(
      Object.entries(fields).map(([name, column]) => [column.name, values[name as keyof typeof fields]]),
    ),
  ),
)

/** The entries of a database. */
export function createAuditLog({ read, transact }: ScriptRunner): AuditLog {
  return {
    page: (query) => read(() => pageOf(query)),
    find: (id) => read(() => findEntry(id)),
    expire: (before) => transact(() => expireEntries(before)),
  }
}

function* findEntry(id: string): Script<AuditEntry | undefined> {
  const [row] = yield* selectEntry({ id })
  return row && toEntry(row)
}

const selectEntry = statement(({ id }: Parameters<{ id: string }>) =>
  select(fields, sql`from ${entries} where ${eq(entries.id, id)}`),
)

function* pageOf(query: AuditQuery): Script<ListedPage<AuditEntry> | undefined> {
  const { after, order, limit } = query
  if (after !== undefined && !(yield* isListed(after, query))) return undefined
  const rows = yield* execute((dialect) => {
    const where = selectionOf(query, dialect)
    return select(
      fields,
      sql`from ${entries} ${where ? sql`where ${where}` : sql``}
        order by ${entries.id} ${sql.raw(order)} limit ${limit + 1}`,
    )
  })
  return toListedPage(rows.map(toEntry), query)
}

/** Whether a page can begin after this entry. */
function* isListed(id: string, { organizationId }: AuditQuery): Script<boolean> {
  const where = and(eq(entries.id, id), ofOrganization(organizationId))
  return (yield* execute(() => select({ id: entries.id }, sql`from ${entries} where ${where}`))).length > 0
}

function* expireEntries(before: number): Script<number> {
  return (yield* deleteOldest({ before: startOfIds('audit_log-', before) })).length
}

const deleteOldest = statement(({ before }: Parameters<{ before: string }>) =>
  returning(
    { id: entries.id },
    sql`delete from ${entries} where ${entries.id} in (select ${entries.id} from ${entries}
      where ${lt(entries.id, before)} order by ${entries.id} limit ${stepRows})`,
  ),
)

function toEntry(row: RowOf<typeof fields>): AuditEntry {
  const { id, createdAt, event, source, address, forwardedFor, organizationId, projectId } = row
  return {
    id,
    createdAt,
    event,
    actor: { type: row.actorType, id: row.actorId, name: row.actorName, source, address, forwardedFor },
    resource: { type: row.resourceType, id: row.resourceId, name: row.resourceName },
    organizationId,
    projectId,
    organization: row.organizationName,
    before: fieldsIn(row.before),
    after: fieldsIn(row.after),
  }
}

function fieldsIn(text: string | null): AuditFields | null {
  return text === null ? null : fieldsOf(parseJson(text))
}

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
