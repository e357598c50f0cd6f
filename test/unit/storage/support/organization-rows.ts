import type { Database as Sqlite } from 'bun:sqlite'

/** The tables whose rows belong to organizations. */
export const ownedTables = [
  'completions',
  'responses',
  'provider_state',
  'usage',
  'usage_totals',
  'budgets',
  'projects',
  'ledger',
  'reservations',
  'webhook_events',
  'content_log',
] as const

/** Inserts this many rows of an organization in each table, alternating with those of another one. */
export function fillOrganization(sqlite: Sqlite, organization: string, other: string, rows: number): void {
  const fill = (table: string, columns: string, values: string) =>
    sqlite.run(
      `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${2 * rows})
      INSERT INTO ${table} (organization_id, ${columns})
      SELECT iif(i % 2, ?1, ?2), ${values} FROM n`,
      [organization, other],
    )
  const id = (prefix: string) => `'${prefix}' || printf('%08d', i) || ?1`
  sqlite.transaction(() => {
    const offset = `(SELECT coalesce(max(sequence), 0) FROM completions) + i`
    fill(
      'completions',
      'sequence, id, model, metadata, completion, messages',
      `${offset}, ${id('chatcmpl-')}, 'acme/river', '{}', '{}', '[]'`,
    )
    sqlite.run("INSERT INTO completion_terms (rowid, terms) SELECT sequence, 'river' FROM completions")
    fill('responses', 'id, status, head, log, input', `${id('resp_')}, 'completed', '{}', '', '[]'`)
    fill('provider_state', 'call_id, provider, value, expires_at', `${id('call_')}, 'gemini', '{}', 9e15`)
    fill(
      'usage',
      'id, key_id, created_at, api, stream, prompt_tokens, completion_tokens, cached_tokens, ' +
        'cache_write_tokens, reasoning_tokens, estimated, status',
      `${id('req_')}, 'key', i / 7, 'chat', 0, 1, 1, 0, 0, 0, 0, 200`,
    )
    fill(
      'usage_totals',
      'width, start, key_id, api, model, provider, requests, failed, client_errors, server_errors, prompt_tokens, ' +
        'completion_tokens, cached_tokens, cache_write_tokens, reasoning_tokens, priced, unpriced, cost, latencies, first_tokens',
      `'hour', i * 3600000, 'key', 'chat', '', '', 1, 0, 0, 0, 1, 1, 0, 0, 0, 1, 0, 1, '[]', '[]'`,
    )
    fill('budgets', 'owner_id, start, spent', `${id('key_')}, 0, 1`)
    fill('projects', 'id, name, created_at', `${id('proj_')}, 'research', 1`)
    fill('ledger', 'id, created_at, kind, amount', `${id('led_')}, 1, 'credit', 2`)
    fill(
      'reservations',
      'request_id, amount, prompt_cost, prompt_tokens, request',
      `${id('open_')}, 1, 1, 1, '{}'`,
    )
    fill('webhook_events', 'id, type, created_at, data', `${id('evt_')}, 'balance.low', 1, '{}'`)
    fill('content_log', 'created_at, request_id, content', `i / 7, ${id('req_')}, '{}'`)
    for (const owner of [organization, other])
      sqlite.run('UPDATE organizations SET balance = ?1 * 2, reserved = ?1 WHERE id = ?2', [rows, owner])
  })()
}

/** How many rows the organization has in each table. */
export function rowsOf(sqlite: Sqlite, organization: string): number[] {
  return ownedTables.map((table) =>
    Number(
      sqlite.query(`SELECT count(*) FROM ${table} WHERE organization_id = ?`).values(organization)[0]?.[0],
    ),
  )
}
