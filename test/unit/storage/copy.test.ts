import { describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { Secret } from '../../../src/lib/secret.ts'
import { silentLog } from '../../../src/lib/log.ts'
import { openCopySource } from '../../../src/storage/copy/copy-endpoints.ts'
import { openDatabase } from '../../../src/storage/sqlite/connection/database.ts'
import { completionId } from '../../support/completion-id.ts'
import { execute, hasPostgres } from '../../support/postgres/server.ts'
import {
  contentOf,
  copyAll,
  disposable,
  emptyPostgres,
  migratedPostgres,
  sqliteFile,
} from './support/copies.ts'

describe.skipIf(!hasPostgres)('a copy', () => {
  test('has all rows where a table has more than one batch, and where a row is larger than one', async () => {
    const file = sqliteFile()
    using source = disposable(openDatabase(file, silentLog))
    const { sqlite } = source.database
    sqlite.run(`INSERT INTO organizations (id, name, created_at) VALUES ('o', 'acme', 1)`)
    sqlite.run(`INSERT INTO ledger WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 2500)
      SELECT 'led_' || i, 'o', i, 'credit', i, NULL, CASE WHEN i % 2 THEN 'räksmörgås "\\{},' || i END FROM n`)
    const large = JSON.stringify(['x'.repeat(5 * 1024 * 1024)])
    const insert = sqlite.prepare(
      `INSERT INTO responses (id, organization_id, status, deletion, head, run, log, input)
       VALUES (?, 'o', ?, ?, '{}', ?, '[]', ?)`,
    )
    insert.run('resp_1', 'completed', null, null, large)
    insert.run('resp_2', 'queued', null, '{"order":1}', '[]')
    insert.run('resp_3', 'completed', 'needed', null, large)
    sqlite.run(`INSERT INTO response_log VALUES ('resp_2', 0, '[1]'), ('resp_2', 1, '[2]')`)
    const run = 'response_id, process_id, request_id, cancel_requested'
    sqlite.run(`INSERT INTO runs (${run}) VALUES ('resp_2', 'p', 'r', 1)`)
    sqlite.run(`INSERT INTO provider_state VALUES ('o', 'call', 'acme', '{"a":[1]}', 5)`)
    const hash = new Uint8Array([0, 92, 255, 10])
    const columns = 'public_id, organization_id, secret_hash, expires_at, revoked_at, replaced_by'
    const insertKey = sqlite.prepare(`INSERT INTO api_keys (name, last4, created_at, ${columns})
      VALUES ('n', 'last', 1, ?, ?, ?, ?, ?, ?)`)
    insertKey.run('b', 'o', hash, null, 2, null)
    insertKey.run('a', 'gone', hash, 3, null, 'b')
    sqlite.run(`INSERT INTO projects (id, organization_id, name, budget, budget_period, models, enabled, created_at)
      VALUES ('proj_1', 'o', 'research', 5, 'day', '["acme/*"]', 0, 1)`)
    sqlite.run(`UPDATE api_keys SET project_id = 'proj_1', parent_id = 'a', allocated_in = 7, limits_id = 'c',
      budget = 9007199254740991, permissions = '["mint"]', tags = '["t"]', note = 'n' WHERE public_id = 'b'`)
    sqlite.run(
      `INSERT INTO budgets VALUES ('b', 0, 'o', 1, 2, 3, 4, 80), ('b', 7, 'o', 9007199254740991, 0, 0, 0, 0)`,
    )
    sqlite.run(`INSERT INTO reservations (request_id, organization_id, amount, prepaid, budgets, prompt_cost,
      prompt_tokens, request) VALUES ('req', 'o', 2, 0, '[["b",0]]', 1, 1, '{}')`)
    const expected = contentOf(file)
    const url = await emptyPostgres()
    const { rows, sums } = await copyAll(file, new Secret(url))
    expect(rows).toMatchObject({
      ledger: 2500,
      responses: 3,
      response_log: 2,
      runs: 1,
      api_keys: 2,
      projects: 1,
      budgets: 2,
    })
    expect(sums.ledger).toBe((2500n * 2501n) / 2n)
    expect(await execute(url, 'SELECT public_id FROM api_keys ORDER BY position')).toEqual([
      { public_id: 'b' },
      { public_id: 'a' },
    ])
    const back = sqliteFile()
    await copyAll(new Secret(url), back)
    expect(contentOf(back)).toEqual(expected)
  })

  test('keeps the order of completions that two processes created in the same moment', async () => {
    const url = await migratedPostgres()
    const common = completionId(1_800_000_000_000, 7).slice(0, -1)
    const ids = ['1', '2', '3'].map((last) => common + last)
    const following = completionId(1_800_000_000_000, 8)
    await execute(url, `INSERT INTO organizations (id, name, created_at) VALUES ('o', 'acme', 1)`)
    const metadata = ['{"kind":"song"}', '{broken', '{"kind":"song"}', '{}']
    const rows = [...ids, following].map((id, index) => [id, metadata[index] ?? ''])
    for (const [id, metadata] of rows)
      await execute(
        url,
        `INSERT INTO completions (id, sequence, organization_id, model, metadata, terms, completion, messages)
         VALUES ($1, $2, 'o', 'm', $3, '{}', '{}', '[]')`,
        [id, id === following ? 4096 : 4095, metadata],
      )
    const file = sqliteFile()
    await copyAll(new Secret(url), file)
    using copied = disposable(openDatabase(file, silentLog))
    const inSqlite = copied.database.sqlite
      .query('SELECT id, metadata FROM completions ORDER BY sequence')
      .values()
    expect(inSqlite).toEqual(rows)
    expect(copied.database.sqlite.query('SELECT rowid FROM completion_terms').values()).toEqual([
      [4095],
      [4097],
    ])
    const other = await emptyPostgres()
    await copyAll(file, new Secret(other))
    const returned = await execute(other, 'SELECT id FROM completions ORDER BY sequence, id')
    expect(returned).toEqual([...ids, following].map((id) => ({ id })))
    // Ids of the same moment have one sequence again, because cursors are compared with it.
    const sequences = await execute(other, 'SELECT count(DISTINCT sequence)::int n FROM completions')
    expect(sequences).toEqual([{ n: 2 }])
  })

  test('replaces what PostgreSQL cannot store, and counts the texts', async () => {
    const file = sqliteFile()
    using source = disposable(openDatabase(file, silentLog))
    const { sqlite } = source.database
    const tags = (...texts: string[]) => JSON.stringify(texts)
    const [ledger, content] = ['INSERT INTO ledger VALUES', JSON.stringify(['a\0b\ud800'])]
    sqlite.run(`INSERT INTO organizations (id, name, created_at) VALUES ('o', 'acme', 1)`)
    sqlite.prepare(`${ledger} ('led_1', 'o', 1, 'credit', 5, NULL, ?)`).run('in\0voice')
    sqlite.prepare(`${ledger} ('led_2', 'o', 1, 'credit', 5, NULL, ?)`).run('invoice')
    const usage = sqlite.prepare(
      `INSERT INTO usage (id, organization_id, key_id, created_at, api, stream, prompt_tokens, completion_tokens,
         cached_tokens, cache_write_tokens, reasoning_tokens, estimated, status, user, tags, trace)
       VALUES (?, 'o', 'k', 1, 'chat', 0, 0, 0, 0, 0, 0, 0, 200, ?, ?, ?)`,
    )
    usage.run('req_1', 'ann\0', tags('a\0', '\ud800b\\u0000'), content)
    usage.run('req_2', 'bob', tags('\\u0000', '😀'), null)
    const url = await emptyPostgres()
    expect(await copyAll(file, new Secret(url))).toMatchObject({ replaced: 3, rows: { ledger: 2, usage: 2 } })
    expect(await execute(url, 'SELECT note FROM ledger ORDER BY id')).toEqual([
      { note: 'in\ufffdvoice' },
      { note: 'invoice' },
    ])
    expect(await execute(url, 'SELECT "user", tags, trace FROM usage ORDER BY id')).toEqual([
      { user: 'ann\ufffd', tags: tags('a\ufffd', '\ufffdb\\u0000'), trace: content },
      { user: 'bob', tags: tags('\\u0000', '😀'), trace: null },
    ])
  })

  test.each(['SQLite', 'PostgreSQL'])(
    'names the organizations whose balance in %s is not the sum of its ledger',
    async (from) => {
      const file = sqliteFile()
      const url = from === 'SQLite' ? await emptyPostgres() : await migratedPostgres()
      using source = disposable(openDatabase(from === 'SQLite' ? file : ':memory:', silentLog))
      const run = (text: string) =>
        from === 'SQLite' ? void source.database.sqlite.run(text) : execute(url, text)
      await run(`INSERT INTO organizations (id, name, balance, created_at, deletion)
      VALUES ('o', 'even', 7, 1, NULL), ('p', 'odd', 8, 1, NULL), ('q', 'new', 0, 1, NULL), ('r', 'gone', 1, 1, 'begun')`)
      await run(`INSERT INTO ledger (id, organization_id, created_at, kind, amount)
      VALUES ('1', 'o', 1, 'credit', 9), ('2', 'o', 1, 'charge', -2), ('3', 'p', 1, 'credit', 9)`)
      const [sqlite, postgres] = [file, new Secret(url)]
      const { unbalanced } = await (from === 'SQLite' ? copyAll(sqlite, postgres) : copyAll(postgres, sqlite))
      expect(unbalanced).toEqual([{ name: 'odd', balance: 8n, ledger: 9n }])
    },
  )

  test.each(['SQLite', 'PostgreSQL'])(
    'of a database of %s in which a table is a view is rejected',
    async (from) => {
      const statements = [
        'ALTER TABLE ledger RENAME TO entries',
        'CREATE VIEW ledger AS SELECT * FROM entries',
      ]
      const [file, url] = [sqliteFile(), await migratedPostgres()]
      using source = disposable(openDatabase(file, silentLog))
      for (const text of statements)
        if (from === 'SQLite') source.database.sqlite.run(text)
        else await execute(url, text)
      const end = from === 'SQLite' ? file : new Secret(url)
      await expect(openCopySource(end)).rejects.toThrow(
        /, ledger is a view\. weir copy copies tables only\.$/,
      )
    },
  )

  test('into a PostgreSQL database with a view of the name of a table is rejected', async () => {
    const [file, url] = [sqliteFile(), await migratedPostgres()]
    openDatabase(file, silentLog).close()
    await execute(url, 'ALTER TABLE ledger RENAME TO entries')
    await execute(url, 'CREATE VIEW ledger AS SELECT * FROM entries')
    await expect(copyAll(file, new Secret(url))).rejects.toThrow(
      /, ledger is a view\. weir copy copies tables only\.$/,
    )
  })

  test('that fails leaves a SQLite folder without a database', async () => {
    const url = await migratedPostgres()
    // There is no such organization, which PostgreSQL does not check.
    await execute(url, `INSERT INTO ledger VALUES ('led', 'missing', 1, 'credit', 5)`)
    const file = sqliteFile()
    await expect(copyAll(new Secret(url), file)).rejects.toThrow('FOREIGN KEY')
    expect(await Array.fromAsync(new Bun.Glob('*').scan(join(file, '..')))).toEqual(['weir.lock'])
  })

  test('reports how many of the rows were copied', async () => {
    const file = sqliteFile()
    using source = disposable(openDatabase(file, silentLog))
    source.database.sqlite.run(
      `INSERT INTO organizations (id, name, created_at) VALUES ('o', 'acme', 1), ('p', 'b', 1)`,
    )
    const seen: unknown[] = []
    await copyAll(file, new Secret(await emptyPostgres()), (progress) => seen.push(progress))
    expect(seen).toEqual([{ table: 'organizations', copied: 2, total: 2 }])
  })
})
