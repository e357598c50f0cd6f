import {
  type ClaimedRun,
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
  const { prepared } = database
  const change = (text: string, ...values: (string | number)[]) => prepared(text).run(...values).changes > 0
  /** Nothing that a client was promised depends on it. */
  const write = <T>(work: () => T) => writer.write(work, () => false)

  return {
    claimQueued: async () => [],
    claimAbandoned: createAbandonedClaims(database, write),
    withdraw: (_, { organization, id }) => write(() => change(withdraw, id, organization)),
    read: (_, runs) => read(() => readUnfinished(database, runs)),
    start: (_, { organization, id }) => write(() => change(start, id, organization)),
    // Readers receive what is stored.
    append: (_, pieces) =>
      writer.write(() =>
        pieces
          .filter(({ organization, id, position, entries }) =>
            change(append, position, entries, id, organization),
          )
          .map(({ organization, id }) => ({ organization, id })),
      ),
    leaveReservation: (_, { id }) => write(() => void change(leaveReservation, id)),
    requestCancel: ({ organization, id }) => write(() => void change(requestCancel, id, organization)),
    owned: (_, only) => read(() => prepared<OwnedRun>(owned).all(only === 'cancel-requested' ? 1 : 0)),
    countQueued: (organization) =>
      read(() => prepared<{ readonly count: number }>(countQueued).get(organization)?.count ?? 0),
    progress: (runs) => read(() => runs.flatMap((run) => progressOf(database, run))),
  }
}

/** The runs that were stored before this process are claimed once; they had no row in `runs` before 0.3.0. */
function createAbandonedClaims(
  { prepared }: Database,
  write: <T>(work: () => T) => Promise<T>,
): RunStore['claimAbandoned'] {
  let left: OwnedRun[] | undefined

  async function findLeft(): Promise<OwnedRun[]> {
    if ((await read(() => prepared(anyUnfinished).get())) === null) return []
    return await write(() => {
      prepared(adopt).run()
      return prepared<OwnedRun>(unfinished).all()
    })
  }

  return async (_, limit) => {
    left ??= await findLeft()
    return left.splice(0, limit)
  }
}

function readUnfinished({ prepared }: Database, runs: readonly RunKey[]): readonly ClaimedRun[] {
  const ids = JSON.stringify(runs.map(({ id }) => id))
  const rows = prepared<UnfinishedRun & { readonly cancelRequested: number }>(unfinishedOf).all(ids)
  return rows.map((row) => ({ ...row, cancelRequested: row.cancelRequested === 1 }))
}

function progressOf(
  { prepared }: Database,
  { organization, id, position }: FollowedRun,
): readonly RunProgress[] {
  const found = prepared<Pick<RunProgress, 'status'>>(statusOf).get(id, organization)
  if (found === null) return []
  const rows =
    found.status === 'in_progress' ? prepared<Pick<LogPiece, 'entries'>>(piecesOf).all(id, position) : []
  return [{ organization, id, status: found.status, pieces: rows.map(({ entries }) => entries) }]
}

/** Only unfinished runs are there: the responses are looked up by them. */
const joined = 'FROM runs CROSS JOIN responses r ON r.id = runs.response_id'

const anyUnfinished = "SELECT 1 FROM responses WHERE status IN ('queued', 'in_progress') LIMIT 1"

const adopt = `INSERT OR IGNORE INTO runs (response_id, process_id, request_id)
  SELECT id, '', coalesce(CASE WHEN json_valid(run) THEN json_extract(run, '$.facts.id') END, '')
  FROM responses WHERE status IN ('queued', 'in_progress')`

const unfinished = `SELECT r.id, r.organization_id organization, r.status ${joined} ORDER BY response_id`

/** What is to be cancelled is not started. */
const withdraw = `UPDATE runs SET cancel_requested = true WHERE response_id =
  (SELECT id FROM responses WHERE id = ? AND organization_id = ? AND status = 'queued')`

const unfinishedOf = `SELECT responses.id, organization_id organization, status, head, run,
    CASE status WHEN 'in_progress' THEN log || coalesce((SELECT string_agg(entries, '' ORDER BY position)
      FROM response_log WHERE response_id = responses.id), '') ELSE log END log, cancel_requested cancelRequested
  FROM responses JOIN runs ON runs.response_id = responses.id
  WHERE responses.id IN (SELECT value FROM json_each(?)) AND status IN ('queued', 'in_progress')
  ORDER BY responses.id`

const start = `UPDATE responses SET status = 'in_progress' WHERE id = ? AND organization_id = ?
  AND status IN ('queued', 'in_progress')
  AND EXISTS (SELECT 1 FROM runs WHERE response_id = responses.id AND NOT cancel_requested)`

const append = `INSERT OR REPLACE INTO response_log (response_id, position, entries)
  SELECT id, ?, ? FROM responses WHERE id = ? AND organization_id = ? AND status = 'in_progress'`

const leaveReservation = `UPDATE reservations SET process_id = ''
  WHERE request_id = (SELECT request_id FROM runs WHERE response_id = ?)`

const requestCancel = `UPDATE runs SET cancel_requested = true WHERE response_id =
  (SELECT id FROM responses WHERE id = ? AND organization_id = ?)`

const owned = `SELECT r.id, r.organization_id organization, r.status ${joined} WHERE cancel_requested OR NOT ?`

const countQueued = `SELECT count(*) count ${joined} WHERE r.organization_id = ? AND r.status = 'queued'`

const statusOf = 'SELECT status FROM responses WHERE id = ? AND organization_id = ? AND deletion IS NULL'

const piecesOf = `SELECT entries FROM response_log
  WHERE response_id = ? AND position >= ? ORDER BY position LIMIT ${maxPieces}`
