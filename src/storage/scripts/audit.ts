import { and, eq, getTableColumns, lt, sql } from 'drizzle-orm'
import { camelCase } from '../../lib/text.ts'
import { startOfIds, timeOf, timeSortedId } from '../../lib/id.ts'
import { fieldsOf, parseJson } from '../../lib/json/json.ts'
import { ownTurn } from '../../lib/time.ts'
import { stepRows } from '../common/store-limits.ts'
import type {
  Actor,
  AuditEntry,
  AuditEvent,
  AuditFields,
  AuditLog,
  AuditResource,
  AuditQuery,
} from '../ports/audit.ts'
import { type ListedPage, toListedPage } from '../ports/listed-pages.ts'
import { audit_entries as entries } from '../schema/audit.ts'
import { insertInto, pageBy, returning, type RowOf, select } from '../sql.ts'
import { execute, type Parameters, type Script, type ScriptRunner, statement } from '../statement.ts'
import { boundedFields, changedFields } from './audit-fields.ts'
import { type AuditStep, ofOrganization, selectionOf, selectStep } from './audit-selection.ts'

/** Who changes something, and when: every script that changes what operators manage needs it. */
export type Change = {
  readonly actor: Actor
  /** Milliseconds since 1970. */
  readonly now: number
}

/** The properties of a change that an entry records. */
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
    page: (query) => readPage(query, read),
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

/** Reads in steps, so that other requests do not wait for filters that few of many entries match. */
async function readPage(
  query: AuditQuery,
  read: ScriptRunner['read'],
): Promise<ListedPage<AuditEntry> | undefined> {
  const { after: cursor, limit } = query
  if (cursor !== undefined && !(await read(() => isListed(cursor, query)))) return undefined
  const found: AuditEntry[] = []
  for (let after = cursor; ;) {
    const step = { ...query, after }
    const last = await read(() => endOfStep(step))
    found.push(...(await read(() => entriesOf({ ...step, last }))))
    if (found.length > limit || last === undefined) return toListedPage(found.slice(0, limit + 1), query)
    after = last
    await ownTurn()
  }
}

/** The last id that one step reads; undefined if it reaches the end. */
function* endOfStep(query: AuditQuery): Script<string | undefined> {
  const step = selectStep(query)
  if (step === undefined) return undefined
  const lists = yield* execute(() => sql<{ last: string | null; entries: number }>`${step.ends}`)
  const cut = lists.filter(({ entries }) => Number(entries) >= step.length).map(({ last }) => last ?? '')
  const ids = cut.toSorted()
  return query.order === 'asc' ? ids[0] : ids.at(-1)
}

function* entriesOf(step: AuditStep): Script<readonly AuditEntry[]> {
  const rows = yield* execute((dialect) => {
    const page = pageBy(entries.id, undefined, step, [selectionOf(step, dialect)])
    return select(fields, sql`from ${entries} ${page}`)
  })
  return rows.map(toEntry)
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
