import { dirname } from 'node:path'
import { readBatches, viewInSource } from '../../common/copy-pages.ts'
import { type CopyDialect, type CopyQuery, quoted } from '../../common/copy-query.ts'
import {
  selectCopySums,
  selectUnbalanced,
  toCopySums,
  toUnbalanced,
  type UnbalancedRow,
} from '../../common/copy-sums.ts'
import type {
  CopiedRow,
  CopiedTable,
  CopiedValue,
  CopyBatch,
  CopySnapshot,
  CopySource,
  CopySums,
} from '../../ports/copy.ts'
import type { Database } from '../connection/database.ts'
import { openExistingDatabase } from '../connection/existing-database.ts'
import { lockForServing } from '../connection/serving-lock.ts'

/**
 * Opens a file to copy it, and keeps servers from using it meanwhile. Throws an error for the operator if there is none,
 * if a server uses it, or if one of these tables is a view.
 */
export function openCopySource(file: string, tables: readonly CopiedTable[]): CopySource {
  const database = openExistingDatabase(file)
  if (database === undefined)
    throw new Error(`There is no database in ${dirname(file)}. Choose the data folder with --data.`)
  try {
    assertNoViews(database, file, tables)
    const lock = lockForServing(file)
    return {
      label: file,
      // The lock keeps them out.
      beats: async () => [],
      snapshot: (work) => withSnapshot(database, work),
      async close() {
        database.close()
        lock.release()
      },
    }
  } catch (error) {
    database.close()
    throw error
  }
}

/** The rows of a view have no place of their own, and the tables behind it are not known. */
function assertNoViews({ sqlite }: Database, file: string, tables: readonly CopiedTable[]): void {
  const views = sqlite.query("SELECT name FROM sqlite_schema WHERE type = 'view'").values().flat()
  const view = tables.find(({ name }) => views.includes(name))
  if (view !== undefined) throw viewInSource(file, view.name)
}

/** A read transaction sees the content at the time of its first read. */
async function withSnapshot<T>(
  { sqlite }: Database,
  work: (snapshot: CopySnapshot) => Promise<T>,
): Promise<T> {
  sqlite.run('BEGIN')
  try {
    return await work(createContent(sqlite))
  } finally {
    sqlite.run('ROLLBACK')
  }
}

/** Reads the content of a database for a copy. */
export function createContent(sqlite: Database['sqlite']): CopySnapshot {
  const query: CopyQuery = async <Row>(text: string, values: readonly CopiedValue[]) =>
    sqlite.query<Row, (string | number | boolean | Uint8Array | null)[]>(text).all(...values)
  return {
    async count({ name }) {
      const counted = sqlite.query<{ readonly rows: number }, []>(`SELECT count(*) rows FROM ${quoted(name)}`)
      return counted.get()?.rows ?? 0
    },
    sums: async () => toCopySums(sqlite.query<Record<keyof CopySums, string>, []>(selectCopySums).get()),
    unbalanced: async () => sqlite.query<UnbalancedRow, []>(selectUnbalanced).all().map(toUnbalanced),
    rows: (table) => readRows(table, query),
  }
}

const dialect: CopyDialect = {
  keyColumn: (table, name) => (hasColumn(table, name) ? quoted(name) : 'rowid'),
  // A range of a text would end at a null character.
  bytesOf: (text) => `CAST(${text} AS BLOB)`,
}

async function* readRows(table: CopiedTable, query: CopyQuery): AsyncGenerator<CopyBatch> {
  const booleans = table.columns.filter(({ type }) => type === 'boolean').map(({ name }) => name)
  for await (const { rows, large } of readBatches(table, query, dialect))
    yield { rows: booleans.length === 0 ? rows : rows.map((row) => withBooleans(row, booleans)), large }
}

/** The order of creation is a column only in PostgreSQL. */
function hasColumn({ columns }: CopiedTable, name: string): boolean {
  return columns.some((column) => column.name === name)
}

function withBooleans(row: CopiedRow, names: readonly string[]): CopiedRow {
  return { ...row, ...Object.fromEntries(names.map((name) => [name, row[name] === 1])) }
}
