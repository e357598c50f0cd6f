import type { Database } from './database.ts'
import type { Writer } from './writer.ts'

/** Proves that the database takes writes: it commits the version of the schema that it has. Rejects where it does not. */
export function probeWrites({ sqlite }: Database, writer: Writer): Promise<void> {
  return writer.write(() => {
    const { user_version: version } = sqlite.query('PRAGMA user_version').get() as { user_version: number }
    sqlite.run(`PRAGMA user_version = ${version}`)
  })
}
