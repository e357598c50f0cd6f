import type { Responses } from '../../../../src/storage/ports/responses.ts'
import { createResponses } from '../../../../src/storage/scripts/responses.ts'
import type { Database } from '../../../../src/storage/sqlite/connection/database.ts'
import { createScriptRunner } from '../../../../src/storage/sqlite/script-runner.ts'
import type { Writer } from '../../../../src/storage/sqlite/writer.ts'

/** The responses in a SQLite database, as a server opens them. */
export function sqliteResponses(database: Database, writer: Writer): Responses {
  return createResponses(createScriptRunner(database, writer), { written: () => writer.write(() => {}) })
}
