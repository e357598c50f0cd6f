import { existsSync, mkdirSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Log } from '../../../lib/log.ts'
import { termsOfCopied } from '../../common/copied-completion.ts'
import { quoted } from '../../common/copy-pages.ts'
import type { CopiedRow, CopiedTable, CopyTarget, CopyWriter } from '../../ports/copy.ts'
import { type Database, openDatabase } from '../connection/database.ts'
import { moveWithoutOverwrite, syncToDisk } from '../connection/publish-file.ts'
import { lockForServing } from '../connection/serving-lock.ts'
import { createContent } from './copy-source.ts'

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

function createWriter({ sqlite }: Database): CopyWriter {
  const { count, sums, unbalanced } = createContent(sqlite)
  const insertCompletion = prepareCompletion(sqlite)

  function insertRows(table: CopiedTable, rows: readonly CopiedRow[]): void {
    const names = table.columns.map(({ name }) => name)
    const insert = sqlite.query(
      `INSERT INTO ${quoted(table.name)} (${names.map(quoted).join()}) VALUES (${names.map(() => '?').join()})`,
    )
    for (const row of rows) insert.run(...names.map((name) => row[name] ?? null))
  }

  return {
    count,
    sums,
    unbalanced,
    async insert(table, rows) {
      const change = table.name === 'completions' ? insertCompletion : (row: CopiedRow) => row
      sqlite.transaction(() => insertRows(table, rows.map(change)))()
    },
  }
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
    insertTerms.run(last, termsOfCopied(row))
    return { ...row, sequence: last }
  }
}
