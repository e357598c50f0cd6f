import { eq, type SQL, sql } from 'drizzle-orm'
import { usage, usage_rollup, usage_totals } from '../schema/usage.ts'
import { select } from '../sql.ts'
import { type Dialect, type Parameters, type Script, statement } from '../statement.ts'

const hourMs = 3_600_000

/**
 * Executes `lastUses` of the keys. It reads the usage, which is recorded anyway, so that no request writes the time: the
 * totals by hour, and the requests of the last hour or that the totals do not count yet.
 */
export function* lastUses(
  organizations: readonly string[],
  now: number,
): Script<ReadonlyMap<string, number>> {
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
