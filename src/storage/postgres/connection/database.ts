import { createLog, type Log } from '../../../lib/log.ts'
import type { Secret } from '../../../lib/secret.ts'
import { settleWithin } from '../../../lib/time.ts'
import { callerTimeoutMs } from '../../ports/health.ts'
import type { StorageOptions } from '../../ports/storage.ts'
import { databaseLabel } from '../../database-location.ts'
import { createProcessIdentity, type ProcessIdentity } from '../../common/process-identity.ts'
import { releaseReservations } from '../reservations.ts'
import { Health } from '../health.ts'
import type { Job } from '../writer/batch.ts'
import { createTransact, type Transact } from '../writer/transaction.ts'
import { Writer, type WriterOptions } from '../writer/writer.ts'
import { createPagedReads, type ReadPages } from './bounded-read.ts'
import {
  type Connections,
  type ConnectionsOptions,
  createQuery,
  openConnections,
  type Query,
} from './connections.ts'
import { migrate, migrations, schemaVersion } from './migrate.ts'
import { assertCreatable, assertWritable, explainError, operatorError } from './privileges.ts'

/** An open database with the newest schema. */
export type Database = {
  /** The host and the name of the database, without user and password. */
  readonly label: string
  /** This process, which owns what it reserves and queues. */
  readonly process: ProcessIdentity
  /** Runs one statement in a transaction of its own. */
  readonly query: Query
  readonly readPages: ReadPages
  readonly transact: Transact
  /** Commits reservations, settlements and their writes in groups. */
  readonly writer: Writer
  /** Commits the usage of requests without a charge in groups, so that they do not delay the others. */
  readonly usageWriter: Writer
  readonly health: Health
  /** The milliseconds for which a request waits at most. */
  readonly callerTimeoutMs: number
  /** Commits the jobs that wait, and closes the connections. */
  close(): Promise<void>
}

const closeTimeoutMs = 2000

/** Connections for statements of their own; each writer has one more. */
const maxConnections = 10

/** `timeoutMs` see `ConnectionsOptions`; it also replaces the timeout of requests and of the probe. */
export type DatabaseOptions = Pick<WriterOptions, 'outcomeTimeoutMs'> &
  Pick<ConnectionsOptions, 'timeoutMs'> &
  Pick<StorageOptions, 'stopping'>

/** Opens the database with this URL and migrates it; rejects with an error for the operator that names no password. */
export async function openDatabase(
  url: Secret,
  log: Log = createLog(),
  options: DatabaseOptions = {},
): Promise<Database> {
  const label = databaseLabel(url)
  const connections = openConnections(url, maxConnections, options)
  try {
    await migrate(connections, label, migrations, log, options.stopping)
  } catch (error) {
    const explained = await explainError(error, connections, label)
    await connections.close()
    throw explained
  }
  return assemble(url, connections, { label, log, options })
}

type Parts = {
  readonly label: string
  readonly log: Log
  readonly options: DatabaseOptions
}

function assemble(url: Secret, connections: Connections, { label, log, options }: Parts): Database {
  const query = createQuery(connections)
  const transact = createTransact(connections)
  const health = new Health(query, log, options.timeoutMs)
  const undo = (jobs: readonly Job[]) =>
    transact((query) =>
      releaseReservations(
        query,
        jobs.filter((job) => job.kind === 'reserve'),
      ),
    )
  const [own, ofUsage] = [openConnections(url, 1, options), openConnections(url, 1, options)]
  const writer = new Writer(own, { ...options, health, undo })
  const usageWriter = new Writer(ofUsage, { health })
  return {
    label,
    process: createProcessIdentity(),
    query,
    readPages: createPagedReads(connections),
    transact,
    writer,
    usageWriter,
    health,
    callerTimeoutMs: options.timeoutMs ?? callerTimeoutMs,
    async close() {
      await Promise.all([writer.close(), usageWriter.close()])
      health.close()
      // A server that does not answer must not delay the end of the process.
      await settleWithin(Promise.all([connections.close(), own.close(), ofUsage.close()]), closeTimeoutMs)
    },
  }
}

/**
 * Rejects with an error for the operator if the database cannot be reached, is read-only, has a newer schema, or needs
 * tables that its user may not create. Changes nothing.
 */
export async function checkPostgres(url: Secret): Promise<void> {
  const label = databaseLabel(url)
  const connections = openConnections(url, 1)
  try {
    const version = await connections.use(schemaVersion(label, migrations))
    await connections.use(assertWritable(label))
    if (version < migrations.length) await connections.use(assertCreatable(label))
  } catch (error) {
    throw await explainError(error, connections, label)
  } finally {
    await connections.close()
  }
}

/** The advisory lock of servers that did not share a database; its second part is the schema. */
const servingLock = 7_239_118

/**
 * Rejects with an error for the operator if a server of an earlier version uses the database, which held a lock as long
 * as it ran: its open reservations would be settled as those of a dead process. It cannot start later, because it rejects
 * the newer schema.
 */
export async function assertNoEarlierServer({
  query,
  label,
}: Pick<Database, 'query' | 'label'>): Promise<void> {
  const statement = `SELECT pg_try_advisory_xact_lock_shared(${servingLock}, hashtext(current_schema())) free`
  const [row] = await query<{ readonly free: boolean }>(statement).catch((error) => {
    throw operatorError(error, label)
  })
  if (row?.free === true) return
  throw new Error(
    `The database ${label} is in use by a weir server of an earlier version, which cannot share it. Stop that server first.`,
  )
}
