import type { Database as Sqlite } from 'bun:sqlite'

/** How many days the rows of `bun test/bench/usage-reports.ts` are spread over. */
export const usageDays = 30

export type FilledUsage = {
  readonly rows: number
  readonly from: number
  readonly to: number
  /** The ids of the organizations that own them, in turn; `org_0` to `org_4` are created by default. */
  readonly organizations?: readonly string[]
}

/** Inserts usage rows, evenly over the time: five keys an organization, some models a key, a thousand users, some failures. */
export function fillUsage(sqlite: Sqlite, { rows, from, to, organizations }: FilledUsage): void {
  const owners = organizations ?? createOwners(sqlite)
  sqlite
    .prepare(
      `WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < ?1 - 1)
      INSERT INTO usage (id, organization_id, key_id, created_at, api, model, provider, stream, prompt_tokens,
        completion_tokens, cached_tokens, cache_write_tokens, reasoning_tokens, estimated, cost, latency_ms,
        first_token_ms, status, error, user, tags)
      SELECT printf('req_%012d', i), json_extract(?4, '$[' || (i * 7 % json_array_length(?4)) || ']'),
        'key' || (i * 7 % json_array_length(?4)) || '_' || (i * 11 % 5),
        ?2 + i * (?3 - ?2) / ?1, iif(i % 5, 'chat', 'responses'), iif(i % 50, 'acme/m' || ((i * 11 + i * 13 % 3) % 8), null),
        iif(i % 50, 'acme', null), i % 2, i % 900, i % 400, i % 90, 0, i % 40, 0, iif(i % 10, i * 997 % 100000, null),
        i * 31 % 20000, iif(i % 2, i * 17 % 900, null), iif(i % 20, 200, iif(i % 40, 400, 502)), iif(i % 20, null, 'upstream_timeout'),
        'user' || (i * 7919 % 1000), iif(i % 4, '["team-' || (i % 5) || '"]', null) FROM n`,
    )
    .run(rows, from, to, JSON.stringify(owners))
}

function createOwners(sqlite: Sqlite): readonly string[] {
  const ids = [0, 1, 2, 3, 4].map((index) => `org_${index}`)
  for (const id of ids)
    sqlite.run('INSERT INTO organizations (id, name, created_at) VALUES (?1, ?1, 0)', [id])
  return ids
}
