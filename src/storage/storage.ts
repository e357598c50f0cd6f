import type { Log } from '../lib/log.ts'
import { bootstrap } from './sqlite/keys/bootstrap.ts'
import { type Completions, createCompletions } from './sqlite/completions/completions.ts'
import { type Database, inMemory, openDatabase } from './sqlite/connection/database.ts'
import { createSpaceReturn } from './sqlite/connection/free-space.ts'
import { createHealth } from './sqlite/health/health.ts'
import { createKeyDirectory, type KeyDirectory } from './sqlite/keys/key-directory.ts'
import type { NewKey } from './sqlite/keys/keys.ts'
import { createLedger, type Ledger } from './sqlite/billing/ledger.ts'
import {
  createOrganizationDeletions,
  type OrganizationDeletions,
} from './sqlite/organizations/organization-deletion.ts'
import { outageSentence } from './sqlite/sqlite-errors.ts'
import { createProviderState, type ProviderState } from './sqlite/provider-state.ts'
import { createReadiness, type Readiness } from './sqlite/health/readiness.ts'
import { createResponses } from './sqlite/responses/response-repository.ts'
import type { Responses } from './ports/responses.ts'
import { lockForServing } from './sqlite/connection/serving-lock.ts'
import { prepareUsageExpiry } from './sqlite/billing/usage-expiry.ts'
import { keepWalSmall } from './sqlite/connection/wal-size.ts'
import { createWriter, type Writer, type WriterFigures } from './sqlite/writer/writer.ts'

/** Everything that a serving gateway stores. */
export type Storage = {
  readonly keys: KeyDirectory
  readonly states: ProviderState
  readonly ledger: Ledger
  readonly completions: Completions
  readonly responses: Responses
  readonly usage: UsageExpiry
  readonly deletions: Pick<OrganizationDeletions, 'continue'>
  /** See `createSpaceReturn`. */
  readonly space: () => Promise<number>
  /** See `bootstrap`. */
  bootstrap(given: string | undefined): Promise<NewKey | undefined>
  readonly readiness: Readiness
  figures(): WriterFigures
  /** Commits what waits, and lets go of the file. */
  close(): void
}

/** Deletes some of the usage of requests made before this moment, and resolves with how much: 0 if none is left. */
export type UsageExpiry = { expire(before: number): Promise<number> }

/** Opens the database, made or migrated where that is needed; throws where another server has it. */
export function openStorage(file: string, log: Log): Storage {
  const lock = file === inMemory ? undefined : lockForServing(file)
  const database = openDatabase(file, log)
  const health = createHealth(database, log)
  const writer = createWriter(database, { health })
  const ledger = createLedger(database, writer)
  const wal = keepWalSmall(database, writer, log)
  return {
    keys: createKeyDirectory(database),
    states: createProviderState(database, writer),
    ledger,
    completions: createCompletions(database, writer),
    responses: createResponses(database, writer),
    usage: createUsageExpiry(database, writer),
    deletions: createOrganizationDeletions(database, writer),
    space: createSpaceReturn(database, writer),
    bootstrap: (given) => bootstrap(database, writer, given).catch(throwInWords),
    readiness: createReadiness(database, writer, health),
    figures: writer.figures,
    close() {
      wal.stop()
      health.close()
      ledger.close()
      writer.close()
      database.close()
      lock?.release()
    },
  }
}

function createUsageExpiry(database: Database, writer: Writer): UsageExpiry {
  const expire = prepareUsageExpiry(database)
  return { expire: (before) => writer.write(() => expire(before)) }
}

/** The first write of a start says what is wrong with the database, to the operator alone. */
function throwInWords(error: unknown): never {
  const sentence = outageSentence(error)
  throw sentence === undefined ? error : new Error(sentence, { cause: error })
}
