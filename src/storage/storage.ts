import type { Log } from '../lib/log.ts'
import { bootstrap } from './bootstrap.ts'
import { inMemory, openDatabase } from './database.ts'
import { createKeyDirectory, type KeyDirectory } from './key-directory.ts'
import type { NewKey } from './keys.ts'
import { createLedger, type Ledger } from './ledger.ts'
import { probeWrites } from './probe.ts'
import { createProviderState, type ProviderState } from './provider-state.ts'
import { lockForServing } from './serving-lock.ts'
import { createWriter } from './writer.ts'

/** Everything that a serving gateway stores. */
export type Storage = {
  readonly keys: KeyDirectory
  readonly states: ProviderState
  readonly ledger: Ledger
  /** See `bootstrap`. */
  bootstrap(given: string | undefined): Promise<NewKey | undefined>
  /** Rejects where the database takes no writes. */
  probe(): Promise<void>
  /** Commits what waits, and lets go of the file. */
  close(): void
}

/** Opens the database, made or migrated where that is needed; throws where another server has it. */
export function openStorage(file: string, log: Log): Storage {
  const lock = file === inMemory ? undefined : lockForServing(file)
  const database = openDatabase(file, log)
  const writer = createWriter(database)
  const ledger = createLedger(database, writer)
  return {
    keys: createKeyDirectory(database),
    states: createProviderState(database, writer),
    ledger,
    bootstrap: (given) => bootstrap(database, writer, given),
    probe: () => probeWrites(database, writer),
    close() {
      ledger.close()
      writer.close()
      database.close()
      lock?.release()
    },
  }
}
