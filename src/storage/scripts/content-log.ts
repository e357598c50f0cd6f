import { eq, isNull, sql } from 'drizzle-orm'
import { timeOf } from '../../lib/id.ts'
import { clampedTime, oneStep, stepRows } from '../common/store-limits.ts'
import { organizations } from '../schema/organizations.ts'
import { content_log } from '../schema/usage.ts'
import { insertInto, select } from '../sql.ts'
import { type Change, recordChange } from './audit.ts'
import { type Parameters, type Script, statement } from '../statement.ts'

/** Part of a transaction that has inserted the usage row: keeps the content of its request. */
export const insertContent = statement(
  (values: Parameters<{ createdAt: number; id: string; organization: string; content: string }>) =>
    insertInto(content_log, {
      created_at: values.createdAt,
      request_id: values.id,
      organization_id: values.organization,
      content: values.content,
    }),
)

/** Returns the content of a request as JSON, once an entry says who reads it; undefined if none is kept. */
export function* readContent(id: string, by: Pick<Change, 'actor'>): Script<string | undefined> {
  const [row] = yield* selectContent({ id, createdAt: clampedTime(timeOf(id)) })
  if (row === undefined) return undefined
  const { content, organizationId, organization } = row
  yield* recordChange(by, {
    event: 'content.read',
    resource: { type: 'request', id, name: null },
    organization: { id: organizationId, name: organization },
    before: null,
    after: null,
  })
  return content
}

const selectContent = statement((values: Parameters<{ id: string; createdAt: number }>) =>
  select(
    {
      content: content_log.content,
      organizationId: content_log.organization_id,
      organization: organizations.name,
    },
    sql`from ${content_log} join ${organizations} on ${eq(organizations.id, content_log.organization_id)}
      where ${eq(content_log.created_at, values.createdAt)} and ${eq(content_log.request_id, values.id)}
        and ${isNull(organizations.deletion)}`,
  ),
)

/** Deletes some of the content of requests that were created before a time, and returns the number of requests. */
export function* expireContent(before: number): Script<number> {
  const expired = oneStep(yield* selectOldest({ before }))
  const last = expired.at(-1)
  if (last !== undefined) yield* deleteUpTo({ createdAt: last.createdAt, id: last.id })
  return expired.length
}

const selectOldest = statement((values: Parameters<{ before: number }>) =>
  select(
    {
      createdAt: content_log.created_at,
      id: content_log.request_id,
      bytes: sql<number>`octet_length(${content_log.content})`,
    },
    sql`from ${content_log} where ${content_log.created_at} < ${values.before}
      order by ${content_log.created_at}, ${content_log.request_id} limit ${stepRows}`,
  ),
)

const deleteUpTo = statement(
  (values: Parameters<{ createdAt: number; id: string }>) =>
    sql<never>`delete from ${content_log}
      where (${content_log.created_at}, ${content_log.request_id}) <= (${values.createdAt}, ${values.id})`,
)
