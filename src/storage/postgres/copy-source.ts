import type { Secret } from '../../lib/secret.ts'
import { assertNoViews, createContent } from '../copy/content.ts'
import type { CopiedTable, CopySnapshot, CopySource } from '../ports/copy.ts'
import { type Connection, type Connections, openConnections } from './connection/connections.ts'
import { databaseLabel } from '../database-location.ts'
import { migrations, schemaVersion } from './connection/migrate.ts'
import { explainError } from './connection/privileges.ts'
import { isConnectionLost } from './postgres-errors.ts'
import { runScript } from './run-script.ts'

/** The connection of a copy was lost; the message is for the operator. */
export class CopyInterruptedError extends Error {
  constructor(label: string, options?: ErrorOptions) {
    super(
      `The connection to the database ${label} was lost. Run weir copy again, which starts over.`,
      options,
    )
  }
}

/** Rejects with `CopyInterruptedError` once the connection is lost. */
export function sendForCopy(send: Connection['send'], label: string): Connection['send'] {
  return async (text, values, timeoutMs) => {
    try {
      return await send(text, values, timeoutMs)
    } catch (cause) {
      throw isConnectionLost(cause) ? new CopyInterruptedError(label, { cause }) : cause
    }
  }
}

/** The time for a statement of a copy: a large table is counted and read in order. */
export const copyTimeoutMs = 30 * 60_000

/** Opens a database to copy it. Rejects with an error for the operator if it cannot be reached, or has another schema. */
export async function openCopySource(url: Secret, tables: readonly CopiedTable[]): Promise<CopySource> {
  const label = databaseLabel(url)
  const connections = openConnections(url, 1)
  try {
    await assertCurrent(connections, label)
    const views = await connections.use(({ send }) => send<{ readonly name: string }>(selectViews))
    assertNoViews(label, tables, views.rows)
  } catch (error) {
    const explained = await explainError(error, connections, label)
    await connections.close()
    throw explained
  }
  return {
    label,
    beats: () =>
      connections.use(async ({ send }) => {
        const { rows } = await send<{ readonly id: string; readonly beat: number }>(
          'SELECT id, beat FROM processes',
        )
        return rows
      }),
    snapshot: (work) => connections.use(({ send }) => withSnapshot(sendForCopy(send, label), work)),
    close: () => connections.close(),
  }
}

async function assertCurrent(connections: Connections, label: string): Promise<void> {
  const version = await connections.use(schemaVersion(label, migrations))
  if (version === 0) throw new Error(`The database ${label} has no data of weir.`)
  if (version < migrations.length)
    throw new Error(
      `The database ${label} was written by an older version of weir (schema ${version}, this one needs ` +
        `${migrations.length}). Start weir serve to migrate it.`,
    )
}

/** The names of the views, where a copy needs tables. */
export const selectViews = 'SELECT viewname AS name FROM pg_views WHERE schemaname = current_schema()'

async function withSnapshot<T>(
  send: Connection['send'],
  work: (snapshot: CopySnapshot) => Promise<T>,
): Promise<T> {
  await send('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY')
  // The transaction is idle while the other database writes.
  await send('SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = 0')
  const result = await work(contentOf(send))
  await send('COMMIT')
  return result
}

/** Reads the content of a database for a copy. */
export function contentOf(send: Connection['send']): CopySnapshot {
  return createContent((script) =>
    runScript(async (text, values) => (await send<never>(text, values, copyTimeoutMs)).rows, script),
  )
}
