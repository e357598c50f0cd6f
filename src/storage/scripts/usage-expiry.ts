import { sql } from 'drizzle-orm'
import { oneStep, stepRows } from '../common/store-limits.ts'
import type { UsageUpkeep } from '../ports/storage.ts'
import { usage, usage_blocks } from '../schema/usage.ts'
import { select } from '../sql.ts'
import { expireContent } from './content-log.ts'
import { type Parameters, type Script, type ScriptRunner, statement } from '../statement.ts'

/** Part of a transaction that has the totals locked: subtracts the rows up to this one, which are about to be deleted. */
export type SubtractDeleted = (lastCreatedAt: number, lastId: string) => Script<void>

/** Creates the part of `UsageUpkeep` that deletes. */
export function createUsageExpiry(
  { transact }: ScriptRunner,
  subtractDeleted: SubtractDeleted,
): Pick<UsageUpkeep, 'expire' | 'expireContent'> {
  return {
    expire: (before) => transact(() => expireUsage(before, subtractDeleted)),
    expireContent: (before) => transact(() => expireContent(before)),
  }
}

/** Deletes some of the usage rows that were created before a time, once their content is deleted, and returns a number of rows. */
export function* expireUsage(before: number, subtractDeleted: SubtractDeleted): Script<number> {
  const contents = yield* expireContent(before)
  if (contents > 0) return contents
  const expired = oneStep(yield* selectOldest({ before }))
  const last = expired.at(-1)
  if (last === undefined) return 0
  yield* lockTotals()
  yield* subtractDeleted(last.createdAt, last.id)
  yield* deleteBlocks({ until: last.createdAt + 1 })
  return (yield* deleteUpTo({ createdAt: last.createdAt, id: last.id })).length
}

/** Only what clients chose may be large; older rows have no limit. */
const bytes = sql<number>`coalesce(octet_length(${usage.user}), 0) + coalesce(octet_length(${usage.tags}), 0)
  + coalesce(octet_length(${usage.trace}), 0) + coalesce(octet_length(${usage.details}), 0)`

const selectOldest = statement((values: Parameters<{ before: number }>) =>
  select(
    { createdAt: usage.created_at, id: usage.id, bytes },
    sql`from ${usage} where ${usage.created_at} < ${values.before}
      order by ${usage.created_at}, ${usage.id} limit ${stepRows}`,
  ),
)

/** Part of a transaction: keeps others from changing the totals until its end. */
export const lockTotals = statement((_, dialect) => dialect.lockTotals)

const deleteUpTo = statement(
  (values: Parameters<{ createdAt: number; id: string }>) =>
    sql<object>`delete from ${usage}
      where (${usage.created_at}, ${usage.id}) <= (${values.createdAt}, ${values.id}) returning 1`,
)

const deleteBlocks = statement(
  (values: Parameters<{ until: number }>) =>
    sql<never>`delete from ${usage_blocks} where ${usage_blocks.until} <= ${values.until}`,
)
