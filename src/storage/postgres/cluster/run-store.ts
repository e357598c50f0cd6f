import {
  type FollowedRun,
  maxPieces,
  type OwnedRun,
  type RunKey,
  type RunProgress,
  type RunStore,
  type UnfinishedRun,
} from '../../ports/run-store.ts'
import type { Query } from '../connection/connections.ts'
import type { Transact } from '../writer/transaction.ts'

/** The runs in the database. What takes a run is a transaction, so that the outcome of a lost one is found. */
export function createRunStore(query: Query, transact: Transact): RunStore {
  const change = <Row>(text: string, values: readonly unknown[]) => transact((run) => run<Row>(text, values))

  /** Most of the time there is nothing to claim: then it is a read. */
  const claim = async <Row>(look: Statement, take: Statement): Promise<readonly Row[]> =>
    (await query(...look)).length === 0 ? [] : await change<Row>(...take)

  let adopted = false

  /** A copy of a SQLite database may have runs without an owner; only the first claim looks for them. */
  async function adoptOnce(): Promise<void> {
    if (!adopted) await query(adopt)
    adopted = true
  }

  return {
    claimQueued: (owner, limit, except) =>
      claim<RunKey>([anyQueued, [owner, except]], [claimQueued, [owner, limit, except]]),
    async claimAbandoned(owner, limit) {
      await adoptOnce()
      return await claim<OwnedRun>([anyAbandoned, [owner]], [claimAbandoned, [owner, limit]])
    },
    withdraw: async (owner, { organization, id }) =>
      (await change(withdraw, [owner, id, organization])).length > 0,
    read: (owner, runs) => query<UnfinishedRun & { cancelRequested: boolean }>(read, [owner, idsOf(runs)]),
    start: async (owner, { organization, id }) => (await change(start, [id, organization, owner])).length > 0,
    append: (owner, pieces) => {
      const positions = pieces.map(({ position }) => position)
      const entries = pieces.map((piece) => piece.entries)
      return query<RunKey>(append, [owner, idsOf(pieces), positions, entries])
    },
    async leaveReservation(owner, { id }) {
      await query(leaveReservation, [owner, id])
    },
    async requestCancel({ organization, id }) {
      await query(requestCancel, [id, organization])
    },
    owned: (owner, only) => query<OwnedRun>(owned, [owner, only === 'cancel-requested']),
    async countQueued(organization) {
      const [row] = await query<{ readonly count: number }>(countQueued, [organization])
      return row?.count ?? 0
    },
    progress: (runs) => readProgress(query, runs),
  }
}

type Statement = readonly [text: string, values: readonly unknown[]]

async function readProgress(query: Query, runs: readonly FollowedRun[]): Promise<readonly RunProgress[]> {
  const organizations = runs.map(({ organization }) => organization)
  const positions = runs.map(({ position }) => position)
  const rows = await query<ProgressRow>(progress, [idsOf(runs), organizations, positions])
  return rows.map((row) => ({ ...row, pieces: row.pieces ?? [] }))
}

type ProgressRow = Omit<RunProgress, 'pieces'> & { readonly pieces: readonly string[] | null }

function idsOf(runs: readonly RunKey[]): readonly string[] {
  return runs.map(({ id }) => id)
}

/** SQL for the complete log of a row of `responses`. */
const completeLog = `CASE status WHEN 'in_progress' THEN log || coalesce((SELECT string_agg(entries, '' ORDER BY position)
  FROM response_log WHERE response_id = responses.id), '') ELSE log END`

/**
 * Both rows are locked, and their conditions checked again: one that was only read may have been changed in the meantime.
 * The lock of a claim is stronger than those of `start` and `append`, and weaker than that of the end.
 */
const locked = 'FOR NO KEY UPDATE OF runs, r'

/** Their oldest queued runs decide which organizations take turns. */
const maxCandidates = 500

const anyQueued = `SELECT FROM runs JOIN responses r ON r.id = runs.response_id
  WHERE r.status = 'queued' AND runs.process_id <> $1 AND NOT runs.cancel_requested AND r.organization_id <> ALL($2) LIMIT 1`

const claimQueued = `WITH oldest AS (
    SELECT r.id, r.organization_id FROM runs JOIN responses r ON r.id = runs.response_id
    WHERE r.status = 'queued' AND runs.process_id <> $1 AND NOT runs.cancel_requested AND r.organization_id <> ALL($3)
    ORDER BY r.id LIMIT ${maxCandidates}),
  turns AS (SELECT id, row_number() OVER (PARTITION BY organization_id ORDER BY id) turn FROM oldest),
  taken AS (
    SELECT r.id, r.organization_id, turn, request_id
    FROM turns JOIN responses r USING (id) JOIN runs ON runs.response_id = r.id
    WHERE r.status = 'queued' AND runs.process_id <> $1 AND NOT runs.cancel_requested
    ORDER BY turn, id LIMIT $2 ${locked} SKIP LOCKED),
  claimed AS (UPDATE runs SET process_id = $1 FROM taken WHERE response_id = taken.id),
  moved AS (UPDATE reservations v SET process_id = $1 FROM taken WHERE v.request_id = taken.request_id)
  SELECT id, organization_id organization FROM taken ORDER BY turn, id`

/**
 * The text may be damaged, so it is not parsed as JSON. A run that has an owner is skipped by a condition: it may end
 * meanwhile, and would not be a conflict any more.
 */
const adopt = `INSERT INTO runs (response_id, process_id, request_id)
  SELECT id, '', coalesce(substring(run FROM '^\\{"facts":\\{"id":"([^"]+)"'), '') FROM responses
  WHERE status IN ('queued', 'in_progress') AND NOT EXISTS (SELECT FROM runs WHERE response_id = responses.id)
  ON CONFLICT DO NOTHING`

const anyAbandoned = `SELECT FROM runs
  WHERE NOT EXISTS (SELECT FROM processes p WHERE p.id = runs.process_id) AND process_id <> $1 LIMIT 1`

/**
 * The processes that are gone are read first: of a row that another claim has just changed, PostgreSQL repeats a join, but not
 * a condition of the form NOT EXISTS, and would claim the run of a process that is alive. A run in progress is marked as to be
 * cancelled, because such a run is not started.
 */
const claimAbandoned = `WITH gone AS MATERIALIZED (
    SELECT DISTINCT process_id FROM runs
    WHERE NOT EXISTS (SELECT FROM processes p WHERE p.id = runs.process_id) AND process_id <> $1),
  taken AS (
    SELECT r.id, r.organization_id, request_id, r.status
    FROM gone JOIN runs USING (process_id) JOIN responses r ON r.id = runs.response_id
    ORDER BY r.id LIMIT $2 ${locked} SKIP LOCKED),
  claimed AS (
    UPDATE runs SET process_id = $1, cancel_requested = cancel_requested OR taken.status = 'in_progress'
    FROM taken WHERE response_id = taken.id),
  moved AS (UPDATE reservations v SET process_id = $1 FROM taken WHERE v.request_id = taken.request_id)
  SELECT id, organization_id organization, status FROM taken ORDER BY id`

const withdraw = `WITH taken AS (
    SELECT response_id, request_id FROM runs JOIN responses r ON r.id = runs.response_id
    WHERE r.id = $2 AND r.organization_id = $3 AND r.status = 'queued'
    AND (NOT runs.cancel_requested OR runs.process_id = $1) ${locked}),
  moved AS (UPDATE reservations v SET process_id = $1 FROM taken WHERE v.request_id = taken.request_id)
  UPDATE runs SET process_id = $1, cancel_requested = true FROM taken
  WHERE runs.response_id = taken.response_id RETURNING runs.response_id`

const read = `SELECT responses.id, organization_id organization, status, head, run, ${completeLog} log,
    cancel_requested "cancelRequested"
  FROM responses JOIN runs ON runs.response_id = responses.id
  WHERE responses.id = ANY($2) AND process_id = $1 AND status IN ('queued', 'in_progress') ORDER BY responses.id`

const start = `WITH own AS (
    SELECT response_id FROM runs WHERE response_id = $1 AND process_id = $3 AND NOT cancel_requested
    AND EXISTS (SELECT FROM processes p WHERE p.id = $3) FOR NO KEY UPDATE)
  UPDATE responses r SET status = 'in_progress' FROM own
  WHERE r.id = own.response_id AND r.organization_id = $2 AND r.status IN ('queued', 'in_progress') RETURNING r.id`

/** The lock keeps a claim, and the end of the run, from missing the piece. A run that is locked by one of them is skipped. */
const append = `WITH own AS (
    SELECT r.id, r.organization_id FROM runs JOIN responses r ON r.id = runs.response_id
    WHERE r.id = ANY($2) AND runs.process_id = $1 AND r.status = 'in_progress' FOR SHARE OF runs, r SKIP LOCKED),
  pieces AS (
    INSERT INTO response_log (response_id, position, entries)
    SELECT own.id, input.position, input.entries
    FROM unnest($2::text[], $3::bigint[], $4::text[]) input (id, position, entries) JOIN own USING (id)
    ON CONFLICT DO NOTHING)
  SELECT id, organization_id organization FROM own`

const leaveReservation = `UPDATE reservations v SET process_id = '' FROM runs
  WHERE runs.response_id = $2 AND runs.process_id = $1 AND v.request_id = runs.request_id`

const requestCancel = `UPDATE runs SET cancel_requested = true FROM responses r
  WHERE runs.response_id = $1 AND r.id = $1 AND r.organization_id = $2`

const owned = `SELECT r.id, r.organization_id organization, r.status FROM runs JOIN responses r ON r.id = runs.response_id
  WHERE runs.process_id = $1 AND (runs.cancel_requested OR NOT $2)`

const countQueued = `SELECT count(*) count FROM runs JOIN responses r ON r.id = runs.response_id
  WHERE r.organization_id = $1 AND r.status = 'queued'`

const progress = `SELECT r.id, r.organization_id organization, r.status,
    CASE WHEN r.status = 'in_progress' THEN (
      SELECT json_agg(entries ORDER BY position) FROM (
        SELECT position, entries FROM response_log
        WHERE response_id = r.id AND position >= input.position ORDER BY position LIMIT ${maxPieces}) piece) END pieces
  FROM unnest($1::text[], $2::text[], $3::bigint[]) input (id, organization_id, position)
  JOIN responses r USING (id, organization_id) WHERE r.deletion IS NULL`
