import type { NewResponse, ResponseEnd } from '../../ports/responses.ts'
import type { Database } from '../connection/database.ts'
import { organizationExistsSql } from '../organization-exists.ts'

/** Parts of transactions. Each changes nothing if the response belongs to another organization, or does not exist. */
export type ResponseWrites = {
  /** Stores nothing for a deleted organization. */
  insert(response: NewResponse): void
  /** Sets a queued response to in progress; false if it is not queued. */
  start(organization: string, id: string): boolean
  /** Appends a piece to the log of a run in progress, once. */
  append(organization: string, id: string, position: number, entries: string): void
  /** Replaces the log of an unfinished run with the complete one; false if the run has finished. */
  finish(organization: string, id: string, end: ResponseEnd): boolean
}

export function prepareResponseWrites(database: Database): ResponseWrites {
  const { insert, own, start, append, finish, clearPieces, disown } = prepareStatements(database)
  return {
    insert(response) {
      const { id, organization, previousId, status, head, log, input } = response
      const run = 'run' in response ? JSON.stringify(response.run) : null
      const [headText, inputText] = [JSON.stringify(head), JSON.stringify(input)]
      const { changes } = insert.run(
        id,
        previousId ?? null,
        status,
        headText,
        run,
        log,
        inputText,
        organization,
      )
      if (changes > 0 && 'owner' in response && response.owner)
        own.run(id, response.owner.process, response.owner.request)
    },
    start: (organization, id) => start.run(id, organization).changes > 0,
    append: (organization, id, position, entries) => void append.run(position, entries, id, organization),
    finish(organization, id, { status, log }) {
      if (finish.run(status, log, id, organization).changes === 0) return false
      clearPieces.run(id)
      disown.run(id)
      return true
    },
  }
}

function prepareStatements({ sqlite }: Database) {
  return {
    // The organization may be deleted while its call runs; the call must not fail because of that.
    insert: sqlite.prepare(
      'INSERT INTO responses (id, organization_id, previous_id, status, head, run, log, input) ' +
        `SELECT ?, id, ?, ?, ?, ?, ?, ? FROM organizations WHERE id = ? AND ${organizationExistsSql}`,
    ),
    start: sqlite.prepare(
      "UPDATE responses SET status = 'in_progress' WHERE id = ? AND organization_id = ? AND status = 'queued'",
    ),
    append: sqlite.prepare(
      'INSERT OR IGNORE INTO response_log (response_id, position, entries) SELECT id, ?, ? FROM responses ' +
        "WHERE id = ? AND organization_id = ? AND status = 'in_progress'",
    ),
    finish: sqlite.prepare(
      'UPDATE responses SET status = ?, log = ?, run = NULL ' +
        "WHERE id = ? AND organization_id = ? AND status IN ('queued', 'in_progress')",
    ),
    own: sqlite.prepare('INSERT INTO runs (response_id, process_id, request_id) VALUES (?, ?, ?)'),
    disown: sqlite.prepare('DELETE FROM runs WHERE response_id = ?'),
    clearPieces: sqlite.prepare('DELETE FROM response_log WHERE response_id = ?'),
  }
}
