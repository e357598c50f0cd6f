import { eq, sql } from 'drizzle-orm'
import { toResponseRow } from '../common/new-rows.ts'
import type { NewResponse, ResponseEnd, ResponseKey } from '../ports/responses.ts'
import type { Write } from '../ports/ledger.ts'
import type { CurrentAlerts } from '../ports/webhooks.ts'
import { isUnfinished, response_log, responses, runs } from '../schema/stored.ts'
import { ofKey } from '../scripts/response-removal.ts'
import { runEventOf, writeEvent } from '../scripts/webhook-events.ts'
import { insertion, returning, update } from '../sql.ts'
import { type Parameters, type Script, statement } from '../statement.ts'
import { insertCompletion, selectOwner } from './completion-search.ts'
import type { Database } from './connection/database.ts'

/** Part of a transaction: executes writes in their order. */
export type ExecuteWrites = (writes: readonly Write[]) => void

export function prepareWrites({ run }: Database, alerts: CurrentAlerts, now: () => number): ExecuteWrites {
  return (writes) => {
    for (const write of writes) run(executeWrite(write, alerts, now))
  }
}

function executeWrite(write: Write, alerts: CurrentAlerts, now: () => number): Script<unknown> {
  switch (write.kind) {
    case 'insert-completion':
      return insertCompletion(write.completion)
    case 'insert-response':
      return insertResponse(write.response)
    case 'finish-response':
      return finishRun(write, write.end, alerts().responses ? now() : undefined)
  }
}

/** Part of a transaction: ends a run, with an event for webhooks if that has a time. */
function* finishRun(key: ResponseKey, end: ResponseEnd, createdAt: number | undefined): Script<void> {
  const { organization, id } = key
  if (!(yield* finishResponse(key, end)) || createdAt === undefined) return
  yield* writeEvent({ organization, type: runEventOf(end), createdAt, data: JSON.stringify({ id }) })
}

/** Part of a transaction: stores a response; stores nothing for a deleted organization. */
export function* insertResponse(response: NewResponse): Script<void> {
  const row = toResponseRow(response)
  // The organization may be deleted while its call runs; the call must not fail because of that.
  if ((yield* selectOwner({ organization: response.organization })).length === 0) return
  yield* insertRow(row)
  if (!('owner' in response)) return
  const { process, request } = response.owner
  yield* insertOwner({ response_id: response.id, process_id: process, request_id: request })
}

/** Of values, and without `returning`: from a select and with that, SQLite takes twice as long for a large input. */
const insertRow = insertion(responses, [
  'id',
  'organization_id',
  'previous_id',
  'status',
  'head',
  'run',
  'log',
  'input',
])

const insertOwner = insertion(runs, ['response_id', 'process_id', 'request_id'])

/** Part of a transaction: replaces the log of an unfinished run with the complete one; false if the run has finished. */
export function* finishResponse(key: ResponseKey, { status, log }: ResponseEnd): Script<boolean> {
  const { organization, id } = key
  const finished = (yield* setFinished({ organization, id, status, log })).length > 0
  if (!finished) return false
  yield* deletePieces({ id })
  yield* deleteOwner({ id })
  return true
}

const setFinished = statement((values: Parameters<ResponseKey & Pick<ResponseEnd, 'status' | 'log'>>) =>
  update(
    responses,
    { status: values.status, log: values.log, run: null },
    returning({ id: responses.id }, sql`${ofKey(values)} and ${isUnfinished}`),
  ),
)

const deletePieces = statement(
  (values: Parameters<{ id: string }>) =>
    sql<never>`delete from ${response_log} where ${eq(response_log.response_id, values.id)}`,
)

const deleteOwner = statement(
  (values: Parameters<{ id: string }>) =>
    sql<never>`delete from ${runs} where ${eq(runs.response_id, values.id)}`,
)
