import { describe, expect, test } from 'bun:test'
import { silentLog } from '../../../src/lib/log.ts'
import { copiedTables } from '../../../src/storage/copy/copied-tables.ts'
import { openDatabase } from '../../../src/storage/sqlite/connection/database.ts'
import { execute, hasPostgres } from '../../support/postgres/server.ts'
import { disposable, migratedPostgres } from './support/copies.ts'

/** The columns that only one of the databases has: they are computed from the columns that are copied. */
const derivedColumns: readonly string[] = [
  // The order of creation, which is the order in which the rows are inserted.
  'api_keys.position',
  'completions.terms',
]

/** The tables that are not copied, by reason. */
const transientTables = {
  /** The state of running servers. */
  running: [
    'processes',
    'rate_limit_buckets',
    'slot_leases',
    'response_erasures',
    'transactions',
    'provider_outages',
  ],
  /** A server computes these from `usage`, `completion_terms` is written with `completions`. */
  derived: [
    'usage_totals',
    'usage_sums',
    'usage_names',
    'usage_rollup',
    'usage_late',
    'usage_blocks',
    'completion_terms',
  ],
} as const

const notCopied: readonly string[] = Object.values(transientTables).flat()

describe('every column', () => {
  test('of SQLite is copied, or its table is listed as transient', () => {
    using sqlite = disposable(openDatabase(':memory:', silentLog))
    const columns = sqlite.database.sqlite
      .query<{ readonly name: string }, []>(
        `SELECT t.name || '.' || c.name name FROM pragma_table_list t JOIN pragma_table_info(t.name) c
         WHERE t.schema = 'main' AND t.type IN ('table', 'virtual') AND t.name NOT LIKE 'sqlite_%'`,
      )
      .all()
      .map(({ name }) => name)
    expect(columns.filter(isPermanent).toSorted()).toEqual(copiedColumns().toSorted())
  })

  test.skipIf(!hasPostgres)(
    'of PostgreSQL is copied or derived, or its table is listed as transient',
    async () => {
      const url = await migratedPostgres()
      const found = await execute<{ readonly name: string }>(
        url,
        `SELECT table_name || '.' || column_name "name" FROM information_schema.columns
       WHERE table_schema = 'public' AND table_name <> 'schema_version'`,
      )
      const columns = found.map(({ name }) => name).filter(isPermanent)
      expect(columns.toSorted()).toEqual([...copiedColumns(), ...derivedColumns].toSorted())
    },
  )
})

function isPermanent(column: string): boolean {
  // An FTS5 table has further tables, which it manages itself.
  return !notCopied.some((table) => column.startsWith(`${table}.`) || column.startsWith('completion_terms_'))
}

function copiedColumns(): readonly string[] {
  return copiedTables.flatMap(({ name, columns }) => columns.map((column) => `${name}.${column.name}`))
}
