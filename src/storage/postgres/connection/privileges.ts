import { isDenied, outageReason } from '../postgres-errors.ts'
import type { Connection, Connections } from './connections.ts'
import { MigrationInterruptedError } from './migrate.ts'

type Privileges = {
  readonly user: string
  /** The first schema of the search path that the user may use; null if there is none. */
  readonly schema: string | null
  readonly path: string
  readonly creatable: boolean | null
  /** Whether the schema has tables of Weir, which another user may have created. */
  readonly filled: boolean
  /** The statement that lets the user create tables in the schema. */
  readonly grant: string
}

const selectPrivileges = `SELECT current_user::text AS "user", current_schema()::text AS schema,
  current_setting('search_path') AS path, has_schema_privilege(current_schema(), 'CREATE') AS creatable,
  EXISTS (SELECT FROM pg_tables WHERE schemaname = current_schema() AND tablename = 'schema_version') AS filled,
  format('GRANT USAGE, CREATE ON SCHEMA %s TO %I;', coalesce(quote_ident(current_schema()), 'NAME'), current_user) AS grant`

const selectReadOnly = `SELECT CASE
  WHEN pg_is_in_recovery() THEN 'it is a standby, which is read-only. Use the URL of the primary server.'
  WHEN current_setting('transaction_read_only') = 'on' THEN
    'it is read-only. Turn off default_transaction_read_only for the server, the database or its user.' END AS problem`

/** Returns a function that throws an error for the operator if the database is read-only for every user. */
export function assertWritable(label: string) {
  return async ({ send }: Connection): Promise<void> => {
    const { rows } = await send<{ readonly problem: string | null }>(selectReadOnly)
    if (rows[0]?.problem) throw new Error(`The database ${label} cannot be used: ${rows[0].problem}`)
  }
}

/** Returns a function that throws an error for the operator if the user may not create the tables of a new database. */
export function assertCreatable(label: string) {
  return async ({ send }: Connection): Promise<void> => {
    const { rows } = await send<Privileges>(selectPrivileges)
    const reason = rows[0] && creationProblem(rows[0])
    if (reason !== undefined) throw new Error(`The database ${label} cannot be used: ${reason}`)
  }
}

/** Converts an error of an open connection for the operator: with the name of the database, and what its user lacks. */
export async function explainError(
  error: unknown,
  connections: Connections,
  label: string,
): Promise<unknown> {
  const privileges = isDenied(error) ? await readPrivileges(connections) : undefined
  const problem = privileges?.filled ? ownershipProblem : creationProblem
  const reason = privileges && problem(privileges, error)
  if (reason === undefined) return operatorError(error, label)
  return new Error(`The database ${label} cannot be used: ${reason}`, { cause: error })
}

/** Adds the name of the database to errors of the server and of the network. */
export function operatorError(error: unknown, label: string): unknown {
  const reason = outageReason(error)
  if (reason === undefined || error instanceof MigrationInterruptedError) return error
  return new Error(`The database ${label} cannot be opened: ${reason}.`, { cause: error })
}

async function readPrivileges(connections: Connections): Promise<Privileges | undefined> {
  try {
    return (await connections.use(({ send }) => send<Privileges>(selectPrivileges))).rows[0]
  } catch {
    // The first error says enough.
    return undefined
  }
}

function creationProblem({ user, schema, path, creatable, grant }: Privileges): string | undefined {
  if (creatable === true) return undefined
  const problem =
    schema === null
      ? `may use no schema of its search path (${path})`
      : `may not create tables in the schema ${schema}`
  return `its user ${user} ${problem}. As an administrator of that database, run: ${grant}`
}

/** As when an administrator has restored a dump. */
function ownershipProblem({ user, grant }: Privileges, error: unknown): string {
  return (
    `${outageReason(error)}. As an administrator of that database, make its user ${user} the owner of its tables ` +
    `(ALTER TABLE … OWNER TO), and run: ${grant}`
  )
}
