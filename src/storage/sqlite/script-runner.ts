import type { ScriptRunner } from '../statement.ts'
import type { Database } from './connection/database.ts'
import { read } from './sqlite-errors.ts'
import { createSubtractSums } from './usage-sums.ts'

/** Executes work in the next transaction, alone or with other work. */
type TransactionWriter = { write<T>(work: () => T): Promise<T> }

/** Executes scripts with the writer of a database. */
export function createScriptRunner(database: Database, writer: TransactionWriter): ScriptRunner {
  const { run } = database
  return {
    transact: (script) => writer.write(() => run(script())),
    write: (script) => writer.write(() => run(script())),
    read: (script) => read(() => run(script())),
    subtractSums: createSubtractSums(database),
  }
}
