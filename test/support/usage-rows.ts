/** A store that runs SQL. */
type UsageStore = { rows(sql: string): Promise<unknown> }

/** How many days the rows of `bun test/bench/usage-reports.ts` are spread over. */
export const usageDays = 30

export type FilledUsage = {
  readonly rows: number
  readonly from: number
  readonly to: number
  /** The ids of the organizations that own them, in turn, or the number of those to create: `org_0` to `org_4` by default. */
  readonly organizations?: readonly string[] | number
  /** The most users that they have; 1000 by default. */
  readonly users?: number
}

/** Inserts usage rows, evenly over the time: five keys an organization, of which one moves to a project and one is in none, some models a key, some failures. */
export async function fillUsage(
  store: UsageStore,
  { rows, from, to, organizations = 5, users = 1000 }: FilledUsage,
): Promise<void> {
  const count = typeof organizations === 'number' ? organizations : organizations.length
  const place = `i * 7 % ${count}`
  const owner = await ownersOf(store, organizations, place)
  await store.rows(
    `WITH RECURSIVE n (i) AS (SELECT cast(0 AS bigint) UNION ALL SELECT i + 1 FROM n WHERE i < ${rows - 1})
      INSERT INTO usage (id, organization_id, key_id, created_at, api, model, provider, stream, prompt_tokens,
        completion_tokens, cached_tokens, cache_write_tokens, reasoning_tokens, estimated, cost, latency_ms,
        first_token_ms, status, error, "user", tags, project_id, session)
      SELECT 'req_' || (1000000000000 + i), ${owner}, 'key' || (${place}) || '_' || ((i + i / ${count}) % 5),
        ${from} + i * (${to} - ${from}) / ${rows}, CASE i % 5 WHEN 0 THEN 'responses' ELSE 'chat' END,
        CASE i % 50 WHEN 0 THEN NULL ELSE 'acme/m' || ((i * 11 + i * 13 % 3) % 8) END,
        CASE i % 50 WHEN 0 THEN NULL ELSE 'acme' END, i % 2 = 1, i % 900, i % 400, i % 90, 0, i % 40, 1 = 0,
        CASE i % 10 WHEN 0 THEN NULL ELSE i * 997 % 100000 END, i * 31 % 20000,
        CASE i % 2 WHEN 0 THEN NULL ELSE i * 17 % 900 END,
        CASE WHEN i % 40 = 0 THEN 502 WHEN i % 20 = 0 THEN 400 ELSE 200 END,
        CASE i % 20 WHEN 0 THEN 'upstream_timeout' END, 'user' || (i * 7919 % ${users}),
        CASE i % 4 WHEN 0 THEN NULL ELSE '["team-' || (i % 5) || '"]' END,
        CASE (i + i / ${count}) % 5 WHEN 0 THEN NULL WHEN 4 THEN CASE WHEN i < ${rows / 2} THEN NULL ELSE 'proj_0' END
          ELSE 'proj_' || (${place}) || '_' || ((i + i / ${count}) % 5 / 2) END,
        'session-' || (i / 50) FROM n`,
  )
}

/** SQL for the organization at this place; creates the organizations of which only the number is given. */
async function ownersOf(
  store: UsageStore,
  organizations: readonly string[] | number,
  place: string,
): Promise<string> {
  if (typeof organizations !== 'number')
    return `CASE ${place} ${organizations.map((id, index) => `WHEN ${index} THEN '${id}'`).join(' ')} END`
  await store.rows(
    `WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < ${organizations - 1})
      INSERT INTO organizations (id, name, created_at) SELECT 'org_' || i, 'org_' || i, 0 FROM n`,
  )
  return `'org_' || (${place})`
}
