import type { ResponseStatus } from '../ports/responses.ts'
import {
  type FollowedRun,
  type LogPiece,
  maxPieces,
  type OwnedRun,
  type RunKey,
  type RunProgress,
  type RunStore,
  type UnfinishedRun,
} from '../ports/run-store.ts'
import type { Database } from './connection/database.ts'
import { read } from './sqlite-errors.ts'
import type { Writer } from './writer.ts'

/** The runs in the SQLite database, all of which belong to this process: what it finds at its start was left by an earlier one. */
export function createRunStore(database: Database, writer: Writer): RunStore {
  const reads = prepareReads(database)
  const changes = prepareChanges(database)
  /** Nothing that a client was promised depends on it. */
  const write = <T>(work: () => T) => writer.write(work, () => false)
  const claimAbandoned = createAbandonedClaims(database, write)

  return {
    claimQueued: async () => [],
    claimAbandoned,
    withdraw: (_, { organization, id }) => write(() => changes.withdraw.run(id, organization).changes > 0),
    read: (_, runs) =>
      read(() => reads.unfinished.all(JSON.stringify(runs.map(({ id }) => id))).map(toClaimedRun)),
    start: (_, { organization, id }) => write(() => changes.start.run(id, organization).changes > 0),
    // Readers receive what is stored.
    append: (_, pieces) => writer.write(() => pieces.filter((piece) => changes.append(piece)).map(toKey)),
    leaveReservation: (_, { id }) => write(() => void changes.leaveReservation.run(id)),
    requestCancel: ({ organization, id }) => write(() => void changes.cancel.run(id, organization)),
    owned: (_, only) => read(() => reads.owned.all(only === 'cancel-requested' ? 1 : 0)),
    countQueued: (organization) => read(() => reads.count.get(organization)?.count ?? 0),
    progress: (runs) => read(() => runs.flatMap((run) => progressOf(run, reads))),
  }
}

/** The runs that were stored before this process are claimed once; they had no row in `runs` before 0.3.0. */
function createAbandonedClaims(
  { sqlite }: Database,
  write: <T>(work: () => T) => Promise<T>,
): RunStore['claimAbandoned'] {
  const adopt = sqlite.prepare(
    'INSERT OR IGNORE INTO runs (response_id, process_id, request_id) ' +
      "SELECT id, '', coalesce(CASE WHEN json_valid(run) THEN json_extract(run, '$.facts.id') END, '') " +
      "FROM responses WHERE status IN ('queued', 'in_progress')",
  )
  const select = sqlite.prepare<OwnedRun, []>(
    `SELECT r.id, r.organization_id organization, r.status ${joined} ORDER BY response_id`,
  )
  const isAnyLeft = sqlite.prepare(
    "SELECT 1 FROM responses WHERE status IN ('queued', 'in_progress') LIMIT 1",
  )
  let left: OwnedRun[] | undefined

  async function findLeft(): Promise<OwnedRun[]> {
    if ((await read(() => isAnyLeft.get())) === null) return []
    return await write(() => {
      adopt.run()
      return select.all()
    })
  }

  return async (_, limit) => {
    left ??= await findLeft()
    return left.splice(0, limit)
  }
}

function progressOf({ organization, id, position }: FollowedRun, reads: Reads): readonly RunProgress[] {
  const found = reads.status.get(id, organization)
  if (found === null) return []
  const rows = found.status === 'in_progress' ? reads.pieces.all(id, position) : []
  const pieces = rows.map(({ entries }) => entries)
  return [{ organization, id, status: found.status, pieces }]
}

type Reads = ReturnType<typeof prepareReads>
type UnfinishedRow = UnfinishedRun & { readonly cancelRequested: number }

function toClaimedRun(row: UnfinishedRow) {
  return { ...row, cancelRequested: row.cancelRequested === 1 }
}

function toKey({ organization, id }: RunKey): RunKey {
  return { organization, id }
}

/** The complete log of a row of `responses`. */
const completeLog =
  "CASE status WHEN 'in_progress' THEN log || coalesce((SELECT string_agg(entries, '' ORDER BY position) " +
  "FROM response_log WHERE response_id = responses.id), '') ELSE log END"

/** Only unfinished runs are there: the responses are looked up by them. */
const joined = 'FROM runs CROSS JOIN responses r ON r.id = runs.response_id'

function prepareReads({ sqlite }: Database) {
  return {
    unfinished: sqlite.prepare<UnfinishedRow, [string]>(
      `SELECT responses.id, organization_id organization, status, head, run, ${completeLog} log, ` +
        'cancel_requested cancelRequested FROM responses JOIN runs ON runs.response_id = responses.id ' +
        "WHERE responses.id IN (SELECT value FROM json_each(?)) AND status IN ('queued', 'in_progress') " +
        'ORDER BY responses.id',
    ),
    owned: sqlite.prepare<OwnedRun, [number]>(
      `SELECT r.id, r.organization_id organization, r.status ${joined} WHERE cancel_requested OR NOT ?`,
    ),
    count: sqlite.prepare<{ readonly count: number }, [string]>(
      `SELECT count(*) count ${joined} WHERE r.organization_id = ? AND r.status = 'queued'`,
    ),
    status: sqlite.prepare<{ readonly status: ResponseStatus }, [string, string]>(
      'SELECT status FROM responses WHERE id = ? AND organization_id = ? AND deletion IS NULL',
    ),
    pieces: sqlite.prepare<{ readonly entries: string }, [string, number]>(
      `SELECT entries FROM response_log WHERE response_id = ? AND position >= ? ORDER BY position LIMIT ${maxPieces}`,
    ),
  }
}

function prepareChanges({ sqlite }: Database) {
  const append = sqlite.prepare<unknown, [number, string, string, string]>(
    'INSERT OR REPLACE INTO response_log (response_id, position, entries) ' +
      "SELECT id, ?, ? FROM responses WHERE id = ? AND organization_id = ? AND status = 'in_progress'",
  )
  return {
    append: ({ organization, id, position, entries }: LogPiece) =>
      append.run(position, entries, id, organization).changes > 0,
    // What is to be cancelled is not started.
    withdraw: sqlite.prepare<unknown, [string, string]>(
      'UPDATE runs SET cancel_requested = true WHERE response_id = ' +
        "(SELECT id FROM responses WHERE id = ? AND organization_id = ? AND status = 'queued')",
    ),
    start: sqlite.prepare<unknown, [string, string]>(
      "UPDATE responses SET status = 'in_progress' WHERE id = ? AND organization_id = ? " +
        "AND status IN ('queued', 'in_progress') " +
        'AND EXISTS (SELECT 1 FROM runs WHERE response_id = responses.id AND NOT cancel_requested)',
    ),
    leaveReservation: sqlite.prepare<unknown, [string]>(
      "UPDATE reservations SET process_id = '' " +
        'WHERE request_id = (SELECT request_id FROM runs WHERE response_id = ?)',
    ),
    cancel: sqlite.prepare<unknown, [string, string]>(
      'UPDATE runs SET cancel_requested = true WHERE response_id = ' +
        '(SELECT id FROM responses WHERE id = ? AND organization_id = ?)',
    ),
  }
}
