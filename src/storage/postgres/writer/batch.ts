import { randomUUID } from 'node:crypto'
import { type ReserveJob, reserveStatement } from '../reservations.ts'
import { type SettledRow, type SettleJob, settleStatement } from '../settlement.ts'
import { type Connection, serverTime } from '../connection/connections.ts'
import { isRejected } from '../postgres-errors.ts'
import { lockForRecording } from '../usage-locks.ts'
import { type WriteRows, writeParts } from '../writes.ts'
import type { Outcome } from './outcome.ts'
import { Parameters, type Statement } from './statement.ts'
import { begin } from './transaction.ts'

/** A piece of work that shares a transaction with others. */
export type Job = ReserveJob | SettleJob | WriteJob

/** Writes that belong to no reservation and to no settlement. */
type WriteJob = {
  readonly kind: 'write'
  readonly id: string
  readonly rows: WriteRows
}

/** The rows that the statements of a batch returned: one for each job that was executed, by its id. */
export type BatchResults = ReadonlyMap<string, SettledRow>

/** The jobs of one transaction, which is sent in one round trip. */
export type Batch = {
  /** The ids under which the transaction is recorded. */
  readonly ids: readonly string[]
  /** Resolves when it is committed. Rejects with `RejectedError` if it was not; after any other error that is unknown. */
  run(connection: Connection): Promise<BatchResults>
  /** Reads the results of a transaction that was committed. */
  resultsOf(outcome: Outcome): BatchResults
}

/** The server has rolled back the transaction because of this error. */
export class RejectedError extends Error {
  constructor(cause: unknown) {
    super('The transaction was rolled back.', { cause })
    this.name = 'RejectedError'
  }
}

/** Prepares a transaction of these jobs, no two of which have the same id. */
export function createBatch(jobs: readonly Job[], now: number): Batch {
  const id = randomUUID()
  const settles = jobs.filter((job) => job.kind === 'settle')
  const reserves = jobs.filter((job) => job.kind === 'reserve')
  const writes = jobs.filter((job) => job.kind === 'write')
  const parts = [
    // First the settlements, because they release money.
    ...(settles.length > 0 ? [{ id: `${id}:settle`, create: settleStatement, jobs: settles }] : []),
    ...(reserves.length > 0 ? [{ id: `${id}:reserve`, create: reserveStatement, jobs: reserves }] : []),
    ...(writes.length > 0 ? [{ id: `${id}:write`, create: writeStatement, jobs: writes }] : []),
  ]
  const locks = [...lockStatements(jobs), ...lockEndedRuns(jobs)]
  return {
    ids: parts.map((part) => part.id),
    async run({ send }) {
      const statements = parts.map(({ id, create, jobs }) => create(id, jobs as never, now))
      const opening = [{ text: begin, values: [] }, ...(settles.length > 0 ? [lockForRecording] : [])]
      const sent = [...opening, ...locks, ...statements].map(({ text, values }) =>
        send<SettledRow>(text, values),
      )
      const [results, commit] = await Promise.all([Promise.allSettled(sent), settled(send('COMMIT'))])
      if (commit.status === 'fulfilled' && commit.value.command === 'COMMIT')
        return toResults(
          results.flatMap((result) => (result.status === 'fulfilled' ? (result.value.rows ?? []) : [])),
        )
      throw failureOf([...results, commit])
    },
    resultsOf: (outcome) =>
      toResults([...outcome.values()].flatMap((text) => JSON.parse(text) as readonly SettledRow[])),
  }
}

/**
 * Locks the organizations until the end of the transaction, in the order of their ids, so that two transactions do not
 * wait for each other. Those whose balance does not change are only kept from being deleted meanwhile.
 */
function lockStatements(jobs: readonly Job[]): readonly Statement[] {
  const charged = organizationsOf(
    jobs.filter((job) => job.kind === 'reserve' || (job.kind === 'settle' && job.reserved)),
  )
  const others = organizationsOf(jobs).filter((id) => !charged.includes(id))
  const lock = (ids: readonly string[], strength: string): readonly Statement[] =>
    ids.length === 0
      ? []
      : [{ text: `SELECT FROM organizations WHERE id = ANY($1) ORDER BY id FOR ${strength}`, values: [ids] }]
  return [...lock(charged, 'NO KEY UPDATE'), ...lock(others, 'SHARE')]
}

/**
 * Locks the runs that end, in a statement of its own: the next one sees the pieces that were appended to their logs until
 * then, and deletes all of them. The order is that of the claims.
 */
function lockEndedRuns(jobs: readonly Job[]): readonly Statement[] {
  const ids = jobs.flatMap(({ rows }) => rows.ends.map((row) => row.id))
  if (ids.length === 0) return []
  const text = `WITH locked AS MATERIALIZED (
      SELECT response_id FROM runs WHERE response_id = ANY($1) ORDER BY response_id FOR NO KEY UPDATE)
    SELECT FROM responses WHERE id = ANY($1) AND (SELECT count(*) FROM locked) >= 0 ORDER BY id FOR NO KEY UPDATE`
  return [{ text, values: [ids] }]
}

function organizationsOf(jobs: readonly Job[]): readonly string[] {
  return [
    ...new Set(
      jobs.flatMap((job) =>
        job.kind === 'write'
          ? [...job.rows.completions, ...job.rows.responses].map((row) => String(row.organization_id))
          : [job.organization],
      ),
    ),
  ]
}

function writeStatement(id: string, jobs: readonly WriteJob[]): Statement {
  const parameters = new Parameters()
  const parts = [
    `recorded AS (SELECT unnest(${parameters.add(jobs.map((job) => job.id))}::text[]) id)`,
    ...writeParts(
      parameters,
      jobs.map(({ rows }) => rows),
    ),
    `kept AS (INSERT INTO transactions (id, results, created_at)
      VALUES (${parameters.add(id)}, '[]', ${serverTime}))`,
  ]
  return { text: `WITH ${parts.join(',\n')} SELECT id FROM recorded`, values: parameters.values }
}

function toResults(rows: readonly SettledRow[]): BatchResults {
  return new Map(rows.map((row) => [row.id, row]))
}

async function settled<T>(promise: Promise<T>): Promise<PromiseSettledResult<T>> {
  const [result] = await Promise.allSettled([promise])
  return result
}

/** The first error is the cause of the others. If the server answered it, the COMMIT has rolled back the transaction. */
function failureOf(results: readonly PromiseSettledResult<unknown>[]): unknown {
  const failed = results.find((result) => result.status === 'rejected')
  const error: unknown = failed?.reason ?? new Error('The transaction was rolled back without an error.')
  return failed === undefined || isRejected(error) ? new RejectedError(error) : error
}
