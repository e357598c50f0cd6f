import { existsSync, mkdirSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Log } from '../../lib/log.ts'
import { termsOfCopied } from '../common/completion-terms.ts'
import { assertNoViews, createContent } from '../copy/content.ts'
import type {
  CopiedRow,
  CopiedTable,
  CopySnapshot,
  CopySource,
  CopyTarget,
  CopyWriter,
  LargeTexts,
} from '../ports/copy.ts'
import { type Database, openDatabase, openExistingDatabase } from './connection/database.ts'
import { moveWithoutOverwrite, syncToDisk } from '../../lib/files.ts'
import { lockForServing } from './connection/serving-lock.ts'

/**
 * Opens a file to copy it, and keeps servers from using it meanwhile. Throws an error for the operator if there is none,
 * if a server uses it, or if one of these tables is a view.
 */
export function openCopySource(file: string, tables: readonly CopiedTable[]): CopySource {
  const database = openExistingDatabase(file)
  if (database === undefined)
    throw new Error(`There is no database in ${dirname(file)}. Choose the data folder with --data.`)
  try {
    assertNoViews(file, tables, database.sqlite.query<View, []>(selectViews).all())
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

type View = { readonly name: string }

const selectViews = "SELECT name FROM sqlite_schema WHERE type = 'view'"

/** A read transaction sees the content at the time of its first read. */
async function withSnapshot<T>(database: Database, work: (snapshot: CopySnapshot) => Promise<T>): Promise<T> {
  database.sqlite.run('BEGIN')
  try {
    return await work(contentOf(database))
  } finally {
    database.sqlite.run('ROLLBACK')
  }
}

function contentOf({ run }: Database): CopySnapshot {
  return createContent(async (script) => run(script))
}

/**
 * Prepares to create this file, which appears when it is complete, and keeps servers from using its folder meanwhile.
 * Throws an error for the operator if the file exists, or if a server uses the folder.
 */
export function openCopyTarget(file: string, log: Log): CopyTarget {
  assertMissing(file)
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
  const lock = lockForServing(file)
  return {
    label: file,
    async fill(work) {
      assertMissing(file)
      const part = `${file}.part`
      // An interrupted copy leaves it.
      removeDatabase(part)
      try {
        const result = await writeDatabase(part, log, work)
        publish(part, file)
        return result
      } finally {
        removeDatabase(part)
      }
    },
    close: async () => lock.release(),
  }
}

const companions = ['-wal', '-shm', '-journal']

/** SQLite would apply a log that an earlier database has left to the new one. */
function assertMissing(file: string): void {
  const found = [file, ...companions.map((suffix) => file + suffix)].find((path) => existsSync(path))
  if (found !== undefined)
    throw new Error(
      `${found} already exists, and weir copy does not replace data. Choose another folder, or move the files ` +
        `of that database away to start over.`,
    )
}

function removeDatabase(file: string): void {
  for (const path of [file, ...companions.map((suffix) => file + suffix)]) rmSync(path, { force: true })
}

async function writeDatabase<T>(
  file: string,
  log: Log,
  work: (writer: CopyWriter) => Promise<T>,
): Promise<T> {
  const database = openDatabase(file, log)
  try {
    // The file is synced once, when it is complete.
    database.sqlite.run('PRAGMA synchronous = OFF')
    const result = await work(createWriter(database))
    database.sqlite.run('PRAGMA wal_checkpoint(TRUNCATE)')
    return result
  } finally {
    database.close()
  }
}

function publish(part: string, file: string): void {
  syncToDisk(part)
  if (!moveWithoutOverwrite(part, file)) assertMissing(file)
  if (process.platform !== 'win32') syncToDisk(dirname(file))
}

function createWriter(database: Database): CopyWriter {
  const { sqlite } = database
  const insertCompletion = prepareCompletion(sqlite)

  function insertRows(table: CopiedTable, rows: readonly CopiedRow[], large: LargeTexts): void {
    const names = table.columns.map(({ name }) => name)
    const whole = names.filter((name) => !(name in large))
    const values = names.map((name) => (name in large ? joined(name) : '?'))
    const insert = sqlite.query(
      `INSERT INTO ${quotedName(table)} (${table.columns.map(quotedName).join()}) VALUES (${values.join()})`,
    )
    for (const row of rows) insert.run(...whole.map((name) => row[name] ?? null))
  }

  return {
    ...contentOf(database),
    async insert(table, { rows, large }) {
      const change = table.name === 'completions' ? insertCompletion : (row: CopiedRow) => row
      const hasLarge = Object.keys(large).length > 0
      sqlite.run('BEGIN')
      try {
        if (hasLarge) await writePieces(sqlite, large)
        insertRows(table, rows.map(change), large)
        if (hasLarge) sqlite.run('DROP TABLE copied_pieces')
        sqlite.run('COMMIT')
      } catch (error) {
        if (sqlite.inTransaction) sqlite.run('ROLLBACK')
        throw error
      }
    },
  }
}

/** Appending the pieces to the row would write all of its text each time, so they have a table until it is inserted. */
async function writePieces(sqlite: Database['sqlite'], large: LargeTexts): Promise<void> {
  sqlite.run(
    'CREATE TABLE copied_pieces (n INTEGER PRIMARY KEY, "column" TEXT NOT NULL, piece TEXT NOT NULL)',
  )
  const insert = sqlite.query<unknown, [string, string]>(
    'INSERT INTO copied_pieces ("column", piece) VALUES (?, ?)',
  )
  for (const [column, pieces] of Object.entries(large))
    for await (const piece of pieces) insert.run(column, piece)
}

function joined(column: string): string {
  return `(SELECT group_concat(piece, '') FROM (SELECT piece FROM copied_pieces WHERE "column" = '${column}' ORDER BY n))`
}

/**
 * Returns a function that inserts the search terms of a completion, and returns its row with a sequence that no other row
 * has: in PostgreSQL, the completions of several processes may have the same one. They come in their order.
 */
function prepareCompletion(sqlite: Database['sqlite']): (row: CopiedRow) => CopiedRow {
  const insertTerms = sqlite.query<unknown, [number, string]>(
    'INSERT INTO completion_terms (rowid, terms) VALUES (?, ?)',
  )
  let last = Number.MIN_SAFE_INTEGER
  return (row) => {
    last = Math.max(Number(row.sequence), last + 1)
    const terms = termsOfCopied(row)
    if (terms !== '') insertTerms.run(last, terms)
    return { ...row, sequence: last }
  }
}

/** Some columns have the names of keywords. */
function quotedName({ name }: { readonly name: string }): string {
  return `"${name}"`
}
