import type { ResponseStatus, UnfinishedRun } from '../../ports/responses.ts'
import {
  type FollowedRun,
  maxPieces,
  type LogPiece,
  type OwnedRun,
  type RunClaims,
  type RunKey,
  type RunProgress,
} from '../../ports/run-claims.ts'
import type { Database } from '../connection/database.ts'
import { read } from '../sqlite-errors.ts'
import type { Writer } from '../writer/writer.ts'
import { completeLog } from './log-sql.ts'

/** The claims in the SQLite database. */
export function createRunClaims(database: Database, writer: Writer): RunClaims {
  const reads = prepareReads(database)
  const changes = prepareChanges(database)

  /** Nothing that a client was promised depends on it. */
  const write = <T>(work: () => T) => writer.write(work, () => false)

  return {
    ...createClaims(reads, changes, write),
    withdraw: (process, run) => write(() => changes.withdraw(process, run)),
    read: (process, runs) =>
      read(() =>
        reads.claimed
          .all(process, JSON.stringify(runs.map(({ id }) => id)))
          .map((row) => ({ ...row, cancelRequested: row.cancelRequested === 1 })),
      ),
    start: (process, run) => write(() => changes.start(process, run)),
    // Readers receive what is stored.
    append: (process, pieces) =>
      writer.write(() => pieces.filter((piece) => changes.append(process, piece)).map(toKey)),
    leaveReservation: (process, run) => write(() => changes.leaveReservation(process, run)),
    requestCancel: (run) => write(() => changes.requestCancel(run)),
    owned: (process, only) => read(() => reads.owned.all(process, only === 'cancel-requested' ? 1 : 0)),
    countQueued: (organization) => read(() => reads.count.get(organization)?.count ?? 0),
    progress: (runs) => read(() => runs.flatMap((run) => progressOf(run, reads))),
  }
}

function progressOf(
  { organization, id, position }: FollowedRun,
  reads: ReadStatements,
): readonly RunProgress[] {
  const found = reads.status.get(id, organization)
  if (found === null) return []
  const rows = found.status === 'in_progress' ? reads.pieces.all(id, position) : []
  const pieces = rows.map(({ entries }) => entries)
  return [{ organization, id, status: found.status, owned: found.owned === 1, pieces }]
}

type ReadStatements = ReturnType<typeof prepareReads>
type Changes = ReturnType<typeof prepareChanges>

/** Most of the time there is nothing to claim: then only one row is read. */
function createClaims(
  reads: ReadStatements,
  changes: Changes,
  write: <T>(work: () => T) => Promise<T>,
): Pick<RunClaims, 'claimQueued' | 'claimAbandoned' | 'adopt'> {
  return {
    async claimQueued(process, limit, except) {
      const excluded = JSON.stringify(except)
      if ((await read(() => reads.anyQueued.get(process, excluded))) === null) return []
      return await write(() => {
        const rows = reads.queued.all(process, excluded, limit)
        for (const row of rows) changes.take(process, row)
        return rows.map(toKey)
      })
    },
    async claimAbandoned(process, limit) {
      if ((await read(() => reads.abandoned.get(process, 1))) === null) return []
      return await write(() => {
        const rows = reads.abandoned.all(process, limit)
        for (const row of rows) changes.take(process, row)
        for (const row of rows) if (row.status === 'in_progress') changes.preventStart(row)
        return rows.map((row) => ({ ...toKey(row), status: row.status }))
      })
    },
    adopt: () => write(changes.adopt),
  }
}

function toKey({ organization, id }: RunKey): RunKey {
  return { organization, id }
}

type TakenRow = RunKey & { readonly request: string }
type AbandonedRow = TakenRow & OwnedRun
type ClaimedRow = UnfinishedRun & { readonly cancelRequested: number }

const key = 'r.id, r.organization_id organization'
const joined = 'FROM runs JOIN responses r ON r.id = runs.response_id'
const alive = 'EXISTS (SELECT 1 FROM processes p WHERE p.id = runs.process_id)'

/** They decide which organizations take turns. */
const oldestQueued =
  // Starts with the runs, in the order of their index.
  `SELECT ${key}, request_id request FROM runs CROSS JOIN responses r ON r.id = response_id WHERE r.status = 'queued' AND process_id <> ? ` +
  'AND NOT cancel_requested AND r.organization_id NOT IN (SELECT value FROM json_each(?)) ORDER BY response_id'
const maxCandidates = 500

function prepareReads({ sqlite }: Database) {
  return {
    anyQueued: sqlite.prepare<TakenRow, [string, string]>(`${oldestQueued} LIMIT 1`),
    queued: sqlite.prepare<TakenRow, [string, string, number]>(
      `SELECT id, organization, request, row_number() OVER (PARTITION BY organization ORDER BY id) turn ` +
        `FROM (${oldestQueued} LIMIT ${maxCandidates}) ORDER BY turn, id LIMIT ?`,
    ),
    abandoned: sqlite.prepare<AbandonedRow, [string, number]>(
      `SELECT ${key}, request_id request, r.status ${joined} WHERE process_id <> ? AND NOT ${alive} ORDER BY r.id LIMIT ?`,
    ),
    claimed: sqlite.prepare<ClaimedRow, [string, string]>(
      `SELECT responses.id, organization_id organization, status, head, run, ${completeLog} log, ` +
        'cancel_requested cancelRequested FROM responses JOIN runs ON runs.response_id = responses.id ' +
        "WHERE process_id = ? AND responses.id IN (SELECT value FROM json_each(?)) AND status IN ('queued', 'in_progress') " +
        'ORDER BY responses.id',
    ),
    owned: sqlite.prepare<RunKey & { readonly status: ResponseStatus }, [string, number]>(
      `SELECT ${key}, r.status ${joined} WHERE process_id = ? AND (cancel_requested OR NOT ?)`,
    ),
    count: sqlite.prepare<{ readonly count: number }, [string]>(
      `SELECT count(*) count ${joined} WHERE r.organization_id = ? AND r.status = 'queued'`,
    ),
    status: sqlite.prepare<{ readonly status: ResponseStatus; readonly owned: number }, [string, string]>(
      `SELECT r.status, EXISTS (SELECT 1 FROM runs WHERE runs.response_id = r.id AND ${alive}) owned ` +
        'FROM responses r WHERE r.id = ? AND r.organization_id = ? AND r.deletion IS NULL',
    ),
    pieces: sqlite.prepare<{ readonly entries: string }, [string, number]>(
      `SELECT entries FROM response_log WHERE response_id = ? AND position >= ? ORDER BY position LIMIT ${maxPieces}`,
    ),
  }
}

/** Parts of transactions. */
function prepareChanges(database: Database) {
  const statements = prepareChangeStatements(database)
  return {
    adopt: () => void statements.adopt.run(),
    take(process: string, { id, request }: TakenRow): void {
      statements.take.run(process, id)
      statements.move.run(process, request)
    },
    preventStart: ({ id }: RunKey) => void statements.preventStart.run(id),
    withdraw(process: string, { organization, id }: RunKey): boolean {
      const taken = statements.withdraw.get(process, id, organization)
      if (taken !== null) statements.move.run(process, taken.request)
      return taken !== null
    },
    start: (process: string, { organization, id }: RunKey): boolean =>
      statements.start.run(id, organization, process).changes > 0,
    append: (process: string, { id, position, entries }: LogPiece): boolean =>
      statements.append.run(position, entries, id, process).changes > 0,
    leaveReservation: (process: string, { id }: RunKey) => void statements.leave.run(id, process),
    requestCancel: ({ organization, id }: RunKey) => void statements.cancel.run(id, organization),
  }
}

function prepareChangeStatements({ sqlite }: Database) {
  return {
    adopt: sqlite.prepare(
      'INSERT OR IGNORE INTO runs (response_id, process_id, request_id) ' +
        "SELECT id, '', coalesce(CASE WHEN json_valid(run) THEN json_extract(run, '$.facts.id') END, '') " +
        "FROM responses WHERE status IN ('queued', 'in_progress')",
    ),
    take: sqlite.prepare('UPDATE runs SET process_id = ? WHERE response_id = ?'),
    // What is to be cancelled is not started.
    preventStart: sqlite.prepare('UPDATE runs SET cancel_requested = true WHERE response_id = ?'),
    move: sqlite.prepare('UPDATE reservations SET process_id = ? WHERE request_id = ?'),
    withdraw: sqlite.prepare<{ readonly request: string }, [string, string, string]>(
      'UPDATE runs SET process_id = ?1, cancel_requested = true ' +
        'WHERE (NOT cancel_requested OR process_id = ?1) AND response_id = ' +
        "(SELECT id FROM responses WHERE id = ?2 AND organization_id = ?3 AND status = 'queued') RETURNING request_id request",
    ),
    start: sqlite.prepare(
      "UPDATE responses SET status = 'in_progress' WHERE id = ? AND organization_id = ? " +
        "AND status IN ('queued', 'in_progress') AND EXISTS (SELECT 1 FROM runs JOIN processes p ON p.id = process_id " +
        'WHERE response_id = responses.id AND process_id = ? AND NOT cancel_requested)',
    ),
    append: sqlite.prepare(
      'INSERT OR REPLACE INTO response_log (response_id, position, entries) SELECT r.id, ?, ? ' +
        `${joined} WHERE r.id = ? AND process_id = ? AND r.status = 'in_progress'`,
    ),
    leave: sqlite.prepare(
      "UPDATE reservations SET process_id = '' " +
        'WHERE request_id = (SELECT request_id FROM runs WHERE response_id = ? AND process_id = ?)',
    ),
    cancel: sqlite.prepare(
      'UPDATE runs SET cancel_requested = true WHERE response_id = ' +
        '(SELECT id FROM responses WHERE id = ? AND organization_id = ?)',
    ),
  }
}
