import { Database } from 'bun:sqlite'
import { describe, expect, onTestFinished, test } from 'bun:test'
import { join } from 'node:path'
import { Secret } from '../../../src/lib/secret.ts'
import { silentLog } from '../../../src/lib/log.ts'
import { maxPieceBytes, readBatches } from '../../../src/storage/copy/content.ts'
import { copyDatabase } from '../../../src/storage/copy/copy-database.ts'
import { copiedTables } from '../../../src/storage/copy/copied-tables.ts'
import { openCopySource, openCopyTarget } from '../../../src/storage/copy/copy-endpoints.ts'
import type { DatabaseLocation } from '../../../src/storage/database-location.ts'
import { sequenceOf } from '../../../src/storage/ports/completions.ts'
import type { CopyTarget } from '../../../src/storage/ports/copy.ts'
import { openDatabase } from '../../../src/storage/sqlite/connection/database.ts'
import { createRunScript } from '../../../src/storage/sqlite/run-script.ts'
import { completionId } from '../../support/completion-id.ts'
import { execute, hasPostgres, sharedPostgres } from '../../support/postgres/server.ts'
import { temporaryFolder } from './support/folder.ts'

describe.skipIf(!hasPostgres)('a text that is larger than a piece', () => {
  test('is copied to the other database and back in pieces, byte for byte', async () => {
    const file = sqliteFile()
    // Ten bytes each, so that the ends of pieces are within characters of two, three and four bytes.
    const large = 'aé漢😀'.repeat((9 * 1024 * 1024) / 10)
    const id = completionId(1_800_000_000_000, 7)
    change(file, (sqlite) => {
      sqlite
        .prepare(
          `INSERT INTO responses (id, organization_id, status, head, log, input)
           VALUES ('resp_1', 'o', 'completed', '{}', ?1, '\ufeff' || ?1), ('resp_2', 'o', 'completed', '{}', '[]', '[]')`,
        )
        .run(large)
      sqlite
        .prepare(`INSERT INTO completions VALUES (?, ?, 'o', 'm', '{"a":"b"}', '{}', ?)`)
        .run(sequenceOf(id) ?? null, id, large)
    })
    const expected = digest(file)
    const [url, back] = [await emptyPostgres(), sqliteFile()]
    const there = await copyCounted(file, new Secret(url))
    expect(there.result).toMatchObject({ replaced: 0, rows: { responses: 2, completions: 1 } })
    const returned = await copyCounted(new Secret(url), back)
    expect(digest(back)).toEqual(expected)
    // Texts of the pieces and rows that were handed over, of three values of 9 MiB.
    for (const { largest, pieces } of [there, returned]) {
      // With the start of a character from the piece before.
      expect(largest).toBeLessThanOrEqual(maxPieceBytes + 3)
      expect(pieces).toBeGreaterThanOrEqual(9)
    }
    expect(
      await execute(url, "SELECT count(*)::int n FROM pg_class WHERE relname = 'copied_pieces'"),
    ).toEqual([{ n: 0 }])
    change(
      back,
      (sqlite) => {
        expect(sqlite.query('SELECT count(*) FROM completion_terms').values()).toEqual([[1]])
        expect(sqlite.query("SELECT 1 FROM sqlite_schema WHERE name = 'copied_pieces'").values()).toEqual([])
      },
      false,
    )
  })

  test('has what PostgreSQL cannot store replaced also where two pieces meet', async () => {
    const file = sqliteFile()
    const [half, nulls] = [maxPieceBytes - 1, '\0\0'] as const
    const note = `${'x'.repeat(half)}${nulls}y`
    // The escape is in both pieces; a pair of backslashes is a backslash, and what follows it is text.
    const tags = [3, 1].map((before) => `["${'x'.repeat(maxPieceBytes - 2 - before)}`)
    change(file, (sqlite) => {
      sqlite.prepare(`INSERT INTO ledger VALUES ('led_1', 'o', 1, 'credit', 5, NULL, ?)`).run(note)
      const usage = sqlite.prepare(
        `INSERT INTO usage (id, organization_id, key_id, created_at, api, stream, prompt_tokens, completion_tokens,
           cached_tokens, cache_write_tokens, reasoning_tokens, estimated, status, tags)
         VALUES (?, 'o', 'k', 1, 'chat', 0, 0, 0, 0, 0, 0, 0, 200, ?)`,
      )
      usage.run('req_1', `${tags[0]}\\ud800"]`)
      usage.run('req_2', `${tags[1]}\\\\u0000"]`)
    })
    const url = await emptyPostgres()
    const { result } = await copyCounted(file, new Secret(url))
    expect(result.replaced).toBe(2)
    const copied = await execute<{ readonly text: string }>(
      url,
      'SELECT note "text" FROM ledger UNION ALL (SELECT tags FROM usage ORDER BY id)',
    )
    const replaced = [`${'x'.repeat(half)}\ufffd\ufffdy`, `${tags[0]}\ufffd"]`, `${tags[1]}\\\\u0000"]`]
    expect(copied.map(({ text }) => Bun.hash(text))).toEqual(replaced.map((text) => Bun.hash(text)))
  })
})

test('a row that is larger than a database can store is refused, by its table and key', async () => {
  using sqlite = new Database(':memory:')
  sqlite.run('CREATE TABLE ledger (id TEXT, note TEXT)')
  sqlite.run("INSERT INTO ledger VALUES ('led_1', ?)", ['x'.repeat(maxPieceBytes + 1)])
  const column = (name: string) => ({ name, type: 'text', postgresType: 'text' }) as const
  const table = { name: 'ledger', columns: [column('id'), column('note')], key: ['id'] }
  const run = createRunScript(sqlite)
  const batches = readBatches(table, async (script) => run(script), maxPieceBytes)
  await expect(Array.fromAsync(batches)).rejects.toThrow(
    /^The row of ledger with the key led_1 has 4194310 bytes of text\. weir copy copies at most 4194304, /,
  )
})

/** Copies, and counts what is handed over to the target. */
async function copyCounted(from: DatabaseLocation, to: DatabaseLocation) {
  const source = await openCopySource(from)
  const target = await openCopyTarget(to, silentLog)
  const counted = { largest: 0, pieces: 0 }
  try {
    const result = await copyDatabase(source, counting(target, counted))
    return { ...counted, result }
  } finally {
    await target.close()
    await source.close()
  }
}

type Counted = { largest: number; pieces: number }

function counting(target: CopyTarget, counted: Counted): CopyTarget {
  function count(value: unknown): void {
    if (typeof value === 'string') counted.largest = Math.max(counted.largest, Buffer.byteLength(value))
  }

  async function* countPieces(pieces: AsyncIterable<string>): AsyncGenerator<string> {
    for await (const piece of pieces) {
      count(piece)
      counted.pieces += 1
      yield piece
    }
  }

  return {
    ...target,
    fill: (work) =>
      target.fill((writer) =>
        work({
          ...writer,
          async insert(table, { rows, large }) {
            rows.forEach((row) => Object.values(row).forEach(count))
            const pieces = Object.entries(large).map(([name, of]) => [name, countPieces(of)] as const)
            await writer.insert(table, { rows, large: Object.fromEntries(pieces) })
          },
        }),
      ),
  }
}

function change(file: string, work: (sqlite: Database) => void, isNew = true): void {
  const database = openDatabase(file, silentLog)
  if (isNew)
    database.sqlite.run(
      "INSERT INTO organizations (id, name, balance, created_at) VALUES ('o', 'acme', 0, 1)",
    )
  work(database.sqlite)
  database.close()
}

/** The digests of all values, because a difference of such texts cannot be shown. */
function digest(file: string): Record<string, unknown[]> {
  const database = openDatabase(file, silentLog)
  const rowsOf = (name: string) =>
    database.sqlite
      .query(`SELECT * FROM "${name}" ORDER BY 1`)
      .values()
      .map((row) => row.map((value) => `${typeof value} ${Bun.hash(String(value))}`))
  const digests = Object.fromEntries(copiedTables.map(({ name }) => [name, rowsOf(name)]))
  database.close()
  return digests
}

function sqliteFile(): string {
  return join(temporaryFolder(), 'weir.db')
}

async function emptyPostgres(): Promise<string> {
  const server = await sharedPostgres()
  const url = await server.createDatabase()
  onTestFinished(() => server.dropDatabase(url))
  return url
}
