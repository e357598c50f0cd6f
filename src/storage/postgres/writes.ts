import type { Outcome, RequestMetadata } from '../../domain/accounting/request-metadata.ts'
import { timeSortedId } from '../../lib/id.ts'
import { toCompletionRow, toResponseRow } from '../common/new-rows.ts'
import type { NewCompletion } from '../ports/completions.ts'
import type { NewResponse } from '../ports/responses.ts'
import type { Write } from '../ports/ledger.ts'
import * as postgres from '../schema/postgres.ts'
import type { completions, responses, runs } from '../schema/stored.ts'
import type { content_log } from '../schema/usage.ts'
import { runEventOf } from '../scripts/webhook-events.ts'
import { termsArray } from './completion-search.ts'
import { serverTime } from './connection/connections.ts'
import { columnTypesOf, type Parameters } from './writer/statement.ts'

/** The writes of one job, as rows: serialized before the transaction begins, so that an invalid one affects no other job. */
export type WriteRows = {
  readonly completions: readonly CompletionRow[]
  readonly responses: readonly ResponseRow[]
  readonly ends: readonly EndRow[]
  readonly contents: readonly ContentRow[]
}

/** Serializes the writes of a job with this id. With `runEvents`, the end of a background run is an event for webhooks. */
export function toWriteRows(job: string, writes: readonly Write[], runEvents = false): WriteRows {
  const rows = {
    completions: [] as CompletionRow[],
    responses: [] as ResponseRow[],
    ends: [] as EndRow[],
    contents: [] as ContentRow[],
  }
  for (const write of writes)
    switch (write.kind) {
      case 'insert-completion':
        rows.completions.push(completionRow(job, write.completion))
        break
      case 'insert-response':
        rows.responses.push(responseRow(job, write.response))
        break
      case 'finish-response':
        rows.ends.push(toEndRow(job, write, runEvents))
    }
  return rows
}

/** Returns the characters of the texts of a job that may be large. */
export function sizeOf({ completions, responses, ends, contents }: WriteRows): number {
  const texts = [
    ...completions.flatMap(({ completion, messages }) => [completion, messages]),
    ...responses.flatMap(({ log, input }) => [log, input]),
    ...ends.map(({ log }) => log),
    ...contents.map(({ content }) => content),
  ]
  return texts.reduce<number>((sum, text) => sum + String(text).length, 0)
}

/**
 * Returns the parts of a `WITH` clause that execute the writes of jobs whose ids are in the part `recorded`. Nothing is
 * stored for a deleted organization.
 */
export function writeParts(parameters: Parameters, jobs: readonly WriteRows[]): readonly string[] {
  const completions = jobs.flatMap((job) => job.completions)
  const responses = jobs.flatMap((job) => job.responses)
  const ends = jobs.flatMap((job) => job.ends)
  const contents = jobs.flatMap((job) => job.contents)
  return [
    ...(completions.length > 0 ? [insertCompletions(parameters, completions)] : []),
    ...(responses.length > 0 ? insertResponses(parameters, responses) : []),
    ...(ends.length > 0 ? finishResponses(parameters, ends) : []),
    ...(contents.length > 0 ? [insertContents(parameters, contents)] : []),
  ]
}

const contentColumns = columnTypesOf<keyof typeof content_log.$inferSelect>(postgres.content_log)
const contentTypes = { ...contentColumns, job: 'text' }

type ContentRow = Readonly<Record<keyof typeof contentTypes, string | number>>

/** Returns the content of a request as rows of its settlement. */
export function contentRows(
  { id, createdAt, organization }: RequestMetadata,
  { content }: Outcome,
): readonly ContentRow[] {
  if (content === undefined) return []
  return [{ job: id, created_at: createdAt, request_id: id, organization_id: organization, content }]
}

function insertContents(parameters: Parameters, rows: readonly ContentRow[]): string {
  const columns = Object.keys(contentColumns)
  const selected = columns.map((column) => `input.${column}`).join()
  return `kept_contents AS (
    INSERT INTO content_log (${columns.join()})
    SELECT ${selected} FROM ${parameters.table('input', contentTypes, rows)} ${ofRecorded})`
}

const completionColumns = columnTypesOf<keyof typeof completions.$inferSelect>(postgres.completions)
/** The terms are the text of an array: the rows of a parameter cannot have arrays of different lengths. */
const completionTypes = { ...completionColumns, job: 'text', terms: 'text' }

type CompletionRow = Readonly<Record<keyof typeof completionTypes, string | number>>

function completionRow(job: string, completion: NewCompletion): CompletionRow {
  const { row, terms } = toCompletionRow(completion)
  return { job, ...row, terms: termsArray(terms) }
}

/** Joins the rows of a table of parameters named `input` with the recorded jobs and the organizations that exist. */
const ofRecorded =
  'JOIN recorded ON recorded.id = input.job ' +
  'JOIN organizations o ON o.id = input.organization_id AND o.deletion IS NULL ORDER BY input.n'

function insertCompletions(parameters: Parameters, rows: readonly CompletionRow[]): string {
  const columns = Object.keys(completionColumns).filter((name) => name !== 'terms')
  const selected = columns.map((column) => `input.${column}`).join()
  return `stored_completions AS (
    INSERT INTO completions (${columns.join()}, terms)
    SELECT ${selected}, input.terms::uuid[] FROM ${parameters.table('input', completionTypes, rows)} ${ofRecorded})`
}

const { deletion: _deletion, ...responseColumns } = columnTypesOf<keyof typeof responses.$inferSelect>(
  postgres.responses,
)
const { process_id, request_id } = columnTypesOf<keyof typeof runs.$inferSelect>(postgres.runs)
const responseTypes = { ...responseColumns, job: 'text', process_id, request_id }

type ResponseRow = Readonly<Record<keyof typeof responseTypes, string | null>>

function responseRow(job: string, response: NewResponse): ResponseRow {
  const { process = null, request = null } = 'owner' in response ? response.owner : {}
  return { job, ...toResponseRow(response), process_id: process, request_id: request }
}

function insertResponses(parameters: Parameters, rows: readonly ResponseRow[]): readonly string[] {
  const columns = Object.keys(responseColumns)
  const selected = columns.map((column) => `input."${column}"`).join()
  return [
    `new_responses AS (
      SELECT input.* FROM ${parameters.table('input', responseTypes, rows)} ${ofRecorded})`,
    `stored_responses AS (INSERT INTO responses (${columns.join()}) SELECT ${selected} FROM new_responses input)`,
    `stored_runs AS (
      INSERT INTO runs (response_id, process_id, request_id)
      SELECT id, process_id, request_id FROM new_responses WHERE process_id IS NOT NULL)`,
  ]
}

const endTypes = {
  job: 'text',
  organization_id: 'text',
  id: 'text',
  status: 'text',
  log: 'text',
  event: 'text',
  event_id: 'text',
}

type EndRow = Readonly<Record<keyof typeof endTypes, string | null>>
type RunEnd = Extract<Write, { readonly kind: 'finish-response' }>

function toEndRow(job: string, { organization, id, end }: RunEnd, isEvent: boolean): EndRow {
  const { status, log } = end
  const event = isEvent ? runEventOf(end) : null
  return { job, organization_id: organization, id, status, log, event, event_id: timeSortedId('evt_') }
}

function finishResponses(parameters: Parameters, rows: readonly EndRow[]): readonly string[] {
  const events = `run_events AS (
      INSERT INTO webhook_events (id, organization_id, type, created_at, data)
      SELECT event_id, organization_id, event, ${serverTime}, json_build_object('id', id)::text
      FROM finished WHERE event IS NOT NULL)`
  return [
    `finished AS (
      UPDATE responses r SET status = input.status, log = input.log, run = NULL
      FROM ${parameters.table('input', endTypes, rows)} JOIN recorded ON recorded.id = input.job
      WHERE r.id = input.id AND r.organization_id = input.organization_id AND r.status IN ('queued', 'in_progress')
      RETURNING r.id, r.organization_id, input.event, input.event_id)`,
    'cleared AS (DELETE FROM response_log USING finished WHERE response_id = finished.id)',
    'ended_runs AS (DELETE FROM runs USING finished WHERE response_id = finished.id)',
    ...(rows.some(({ event }) => event !== null) ? [events] : []),
  ]
}
