import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * The SQL of every migration of a folder, in the order of its journal. Called as a macro: the bundler reads the files, so that
 * an executable has their content.
 */
export function migrationsIn(folder: 'drizzle' | 'drizzle/postgres'): readonly string[] {
  const read = (path: string) => readFileSync(join(import.meta.dir, '../..', folder, path), 'utf8')
  const journal: Journal = JSON.parse(read('meta/_journal.json'))
  return journal.entries.map(({ tag }) => read(`${tag}.sql`))
}

type Journal = { readonly entries: readonly { readonly tag: string }[] }
