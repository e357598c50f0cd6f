import type { Database } from '../connection/database.ts'
import type { ResponseEnd, UnfinishedRun } from '../../ports/responses.ts'

/** Parts of transactions on responses that are not finished; each does nothing where the response is another's. */
export type Runs = {
  start(organization: string, id: string): boolean
  append(organization: string, id: string, position: number, entries: string): void
  finish(organization: string, id: string, end: ResponseEnd): boolean
  unfinished(after: string, limit: number): readonly UnfinishedRun[]
}

/** SQL for the whole log of a row of `responses`. */
export const wholeLog =
  "CASE status WHEN 'in_progress' THEN log || coalesce((SELECT group_concat(entries, '' ORDER BY position) " +
  "FROM response_log WHERE response_id = responses.id), '') ELSE log END"

/** SQL for its length in bytes. */
export const logSize =
  "octet_length(log) + CASE status WHEN 'in_progress' THEN coalesce((SELECT sum(octet_length(entries)) " +
  'FROM response_log WHERE response_id = responses.id), 0) ELSE 0 END'

export function prepareRuns(database: Database): Runs {
  const statements = prepareStatements(database)

  function finish(organization: string, id: string, { status, log }: ResponseEnd): boolean {
    if (statements.finish.run(status, log, id, organization).changes === 0) return false
    statements.clear.run(id)
    return true
  }

  return {
    start: (organization, id) => statements.start.run(id, organization).changes > 0,
    append: (organization, id, position, entries) => {
      statements.append.run(position, entries, id, organization)
    },
    finish,
    unfinished: (after, limit) => statements.unfinished.all(after, limit),
  }
}

function prepareStatements({ sqlite }: Database) {
  return {
    start: sqlite.prepare(
      "UPDATE responses SET status = 'in_progress' WHERE id = ? AND organization_id = ? AND status = 'queued'",
    ),
    append: sqlite.prepare(
      'INSERT INTO response_log (response_id, position, entries) SELECT id, ?, ? FROM responses ' +
        "WHERE id = ? AND organization_id = ? AND status = 'in_progress'",
    ),
    finish: sqlite.prepare(
      'UPDATE responses SET status = ?, log = ?, run = NULL ' +
        "WHERE id = ? AND organization_id = ? AND status IN ('queued', 'in_progress')",
    ),
    clear: sqlite.prepare('DELETE FROM response_log WHERE response_id = ?'),
    unfinished: sqlite.prepare<UnfinishedRun, [string, number]>(
      `SELECT id, organization_id organization, status, head, run, ${wholeLog} log FROM responses ` +
        "WHERE id > ? AND status IN ('queued', 'in_progress') ORDER BY id LIMIT ?",
    ),
  }
}
