import type { Socket } from 'node:net'
import { Pool, type PoolClient, types } from 'pg'
import type { ApiError } from '../../../lib/errors/errors.ts'
import type { Secret } from '../../../lib/secret.ts'
import { withTimeout } from '../../../lib/time.ts'
import { databaseUnavailable, isConnectionLost, toOutage } from '../postgres-errors.ts'

/** Runs one statement; rejects with 503 if the database is unavailable, or has no result within the timeout. */
export type Query = <Row>(
  text: string,
  values?: readonly unknown[],
  timeoutMs?: number,
) => Promise<readonly Row[]>

/** Connections to one database, opened when they are needed and replaced when they are lost. */
export type Connections = {
  /**
   * Runs the work with a connection of its own. Closes the connection if the work rejects, because the state of its
   * transaction is unknown then.
   */
  use<T>(work: (connection: Connection) => Promise<T>): Promise<T>
  close(): Promise<void>
}

/** A connection; statements that are not awaited are sent together. Rejects with the errors of the driver. */
export type Connection = {
  /** Resolves with the command that the server has executed, and its rows. */
  send<Row>(text: string, values?: readonly unknown[], timeoutMs?: number): Promise<Result<Row>>
  /** Resolves when the connection is lost. */
  readonly lost: Promise<void>
  /** Closes the connection at once, also while a statement is running. */
  abort(): void
}

export type Result<Row> = { readonly command: string; readonly rows: readonly Row[] }

/** SQL for the clock of the server in milliseconds since 1970: times that processes compare must come from one clock. */
export const serverTime = '(extract(epoch FROM clock_timestamp()) * 1000)::bigint'

/** The time to wait for a connection, and for the result of a statement. */
const connectTimeoutMs = 3000
const statementTimeoutMs = 5000
/** An idle connection is closed after this time, unless it is to be kept. */
const idleTimeoutMs = 30_000

export type ConnectionsOptions = {
  /** Whether idle connections stay open: a request does not wait for another one then. */
  readonly keepIdle?: boolean
  /** Replaces the time to wait for a connection, and that for the result of a statement. */
  readonly timeoutMs?: number | undefined
}

/** Opens up to `max` connections to the database with this URL, none of them yet. */
export function openConnections(
  url: Secret,
  max: number,
  { keepIdle = false, timeoutMs }: ConnectionsOptions = {},
): Connections {
  const pool = new Pool({
    connectionString: url.reveal(),
    max,
    connectionTimeoutMillis: timeoutMs ?? connectTimeoutMs,
    idleTimeoutMillis: keepIdle ? 0 : idleTimeoutMs,
    query_timeout: timeoutMs ?? statementTimeoutMs,
    keepAlive: true,
    application_name: 'weir',
    // Statements of one transaction are sent without waiting for the results of the earlier ones.
    pipeline: true,
    types: { getTypeParser },
  })
  // An idle connection that is lost is replaced when the next one is needed.
  pool.on('error', () => {})
  return { use: (work) => withClient(pool, work), close: () => pool.end() }
}

async function withClient<T>(pool: Pool, work: (connection: Connection) => Promise<T>): Promise<T> {
  const client = await pool.connect()
  // The statement that is running reports the error; without a listener it would end the process.
  const { promise: lost, resolve: lose } = Promise.withResolvers<void>()
  client.on('error', () => lose())
  let failed = true
  try {
    const value = await work(toConnection(client, lost))
    failed = false
    return value
  } finally {
    if (!failed) client.removeAllListeners('error')
    client.release(failed)
  }
}

function toConnection(client: PoolClient, lost: Promise<void>): Connection {
  return {
    lost,
    abort: () => closeSocket(client),
    async send<Row>(text: string, values: readonly unknown[] = [], timeoutMs?: number) {
      const { command, rows } = await client.query({
        text,
        values: values.map(toParameter),
        ...(timeoutMs !== undefined && { query_timeout: timeoutMs }),
      })
      return { command, rows: rows as readonly Row[] }
    },
  }
}

/** The driver waits for the results of all statements before it closes a connection, and its types do not have the socket. */
function closeSocket(client: PoolClient): void {
  const { connection } = client as unknown as { readonly connection?: { readonly stream?: Socket } }
  connection?.stream?.destroy()
}

/**
 * Runs each statement on any connection, in a transaction of its own. If the connection was lost it runs again on another
 * one; so it must be a statement that may run twice.
 */
export function createQuery(connections: Connections): Query {
  return async <Row>(text: string, values?: readonly unknown[], timeoutMs?: number) => {
    const run = () => connections.use(async ({ send }) => (await send<Row>(text, values, timeoutMs)).rows)
    try {
      const rows = repeatIfLost(run)
      // Includes the time to connect.
      return await (timeoutMs === undefined ? rows : withTimeout(rows, timeoutMs, noAnswer))
    } catch (error) {
      throw toOutage(error)
    }
  }
}

/** The error for a database that does not answer in time. */
export function noAnswer(): ApiError {
  return databaseUnavailable(new Error('The database did not answer in time.'))
}

async function repeatIfLost<T>(run: () => Promise<T>): Promise<T> {
  try {
    return await run()
  } catch (error) {
    if (!isConnectionLost(error)) throw error
    return await run()
  }
}

/** PostgreSQL cannot store a null character in a text. Only queries of clients and texts of providers can have one. */
function toParameter(value: unknown): unknown {
  if (typeof value === 'string') return value.includes('\0') ? value.replaceAll('\0', '\uFFFD') : value
  return Array.isArray(value) ? value.map(toParameter) : value
}

const bigintType = 20

/** Checks keep the amounts of the tables within the exact range of a number; a sum of them is `numeric`, a string. */
function getTypeParser(oid: number, format?: string): (text: string) => unknown {
  return oid === bigintType && format !== 'binary' ? Number : types.getTypeParser(oid, format)
}
