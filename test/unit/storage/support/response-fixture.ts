import type { Database as Sqlite } from 'bun:sqlite'
import { timeSortedId } from '../../../../src/lib/id.ts'
import type {
  FinishedStatus,
  NewResponse,
  ResponseEnd,
  UnfinishedStatus,
} from '../../../../src/storage/ports/responses.ts'
import { createOrganizations } from '../../../../src/storage/scripts/organization-changes.ts'
import { createScriptRunner } from '../../../../src/storage/sqlite/script-runner.ts'
import type { RunStore } from '../../../../src/storage/ports/run-store.ts'
import { createRunStore } from '../../../../src/storage/sqlite/run-store.ts'
import { finishResponse, insertResponse } from '../../../../src/storage/sqlite/writes.ts'
import { testStorage } from './folder.ts'
import { sqliteResponses } from './sqlite-responses.ts'
import { type OpenStore, type SharedTestStore, valuesOf } from './stores.ts'
import { testChange } from '../../../support/actor.ts'

/** Two organizations, and the responses of both. */
export async function responseStorage() {
  const { database, writer } = testStorage()
  const organizations = createOrganizations(createScriptRunner(database, writer), testChange)
  const responses = sqliteResponses(database, writer)
  const writes = {
    insert: (response: NewResponse) => database.run(insertResponse(response)),
    finish: (organization: string, id: string, end: ResponseEnd) =>
      database.run(finishResponse({ organization, id }, end)),
  }
  const [acme, other] = [(await organizations.create('acme')).id, (await organizations.create('other')).id]
  const insert = (...added: NewResponse[]) => writer.write(() => added.forEach(writes.insert))
  const finish = (organization: string, id: string, end: ResponseEnd) =>
    writer.write(() => writes.finish(organization, id, end))
  /** Stores a finished response of acme, and returns its id. */
  async function replied(previousId?: string, facts: Partial<NewResponse> = {}): Promise<string> {
    const response = { ...finished(acme, previousId), ...facts }
    await insert(response as NewResponse)
    return response.id
  }
  /** Stores this many responses of acme, each of which continues the previous one. */
  async function answeredInTurn(count: number): Promise<string[]> {
    const ids = chainOfIds(count)
    await insert(...ids.map((id, index) => ({ ...finished(acme, ids[index - 1]), id })))
    return ids
  }
  /** Stores a queued response of acme, and returns its id. */
  async function queued(previousId?: string): Promise<string> {
    const response = unfinished(acme, 'queued', previousId)
    await insert(response)
    return response.id
  }
  const rows = () => idsIn(database.sqlite, 'responses', 'id')
  const pieces = () => idsIn(database.sqlite, 'response_log', 'response_id')
  /** Waits until the removals have erased everything. */
  async function erased(): Promise<void> {
    const due = database.sqlite.prepare("SELECT 1 FROM responses WHERE deletion = 'due' LIMIT 1")
    while (due.get() !== null) await writer.write(() => {})
  }
  const kept = { rows, pieces, erased }
  const runs = createRunStore(database, writer)
  return {
    database,
    writer,
    organizations,
    responses,
    runs,
    ...runSteps(runs),
    acme,
    other,
    writes,
    insert,
    finish,
    answered: replied,
    answeredInTurn,
    queued,
    ...kept,
  }
}

/** Two organizations in any store, and the responses of both. */
export async function responseStore(open: OpenStore) {
  const store = await open()
  if ('shared' in store) await (store as SharedTestStore).shared.processes.register(testOwner)
  const { organizations, responses, ledger } = store
  const [acme, other] = [(await organizations.create('acme')).id, (await organizations.create('other')).id]
  const insert = (...added: NewResponse[]) =>
    ledger.write(added.map((response) => ({ kind: 'insert-response', response })))
  const insertNew = async (response: NewResponse) => {
    await insert(response)
    return response.id
  }
  const isUnfinished = async (organization: string, id: string) =>
    (await store.rows('SELECT id, organization_id, status FROM responses')).some(
      (row) =>
        row.id === id &&
        row.organization_id === organization &&
        ['queued', 'in_progress'].includes(String(row.status)),
    )
  return {
    store,
    organizations,
    responses,
    ...runSteps(store.runs),
    acme,
    other,
    insert,
    /** Stores a finished response of acme, and returns its id. */
    answered: (previousId?: string, facts: Partial<NewResponse> = {}) =>
      insertNew({ ...finished(acme, previousId), ...facts } as NewResponse),
    /** Stores this many responses of acme, each of which continues the previous one. */
    async answeredInTurn(count: number): Promise<string[]> {
      const ids = chainOfIds(count)
      await insert(...ids.map((id, index) => ({ ...finished(acme, ids[index - 1]), id })))
      return ids
    },
    /** Stores a queued response of acme, and returns its id. */
    queued: (previousId?: string) => insertNew(unfinished(acme, 'queued', previousId)),
    /** Resolves with whether the run was unfinished, and is finished now. */
    async finish(organization: string, id: string, end: ResponseEnd): Promise<boolean> {
      const before = await isUnfinished(organization, id)
      await ledger.write([{ kind: 'finish-response', organization, id, end }])
      return before && !(await isUnfinished(organization, id))
    },
    rows: async () => (await valuesOf(store, 'SELECT id FROM responses ORDER BY id')).flat(),
    pieces: async () =>
      (await valuesOf(store, 'SELECT response_id FROM response_log ORDER BY response_id')).flat(),
    /** Waits until the removals have erased everything. */
    async erased(): Promise<void> {
      while ((await store.rows("SELECT id FROM responses WHERE deletion = 'due' LIMIT 1")).length > 0)
        await store.written()
    },
  }
}

/** The process that owns the runs of a fixture. */
const testOwner = 'owner'

/** Starts a run of that process, and appends to its log. */
export function runSteps(runs: RunStore) {
  return {
    start: (organization: string, id: string) => runs.start(testOwner, { organization, id }),
    append: (organization: string, id: string, position: number, entries: string) =>
      runs.append(testOwner, [{ organization, id, position, entries }]),
  }
}

/** A complete response of the organization that identifies it. */
export function finished(
  organization: string,
  previousId?: string,
  status: FinishedStatus = 'completed',
): NewResponse {
  return { ...newResponse(organization, previousId), log: '["told"]\n', status }
}

/** A response of the organization that has yet to be run. */
export function unfinished(
  organization: string,
  status: UnfinishedStatus,
  previousId?: string,
): NewResponse & { readonly status: UnfinishedStatus } {
  const owner = { process: testOwner, request: timeSortedId('req_') }
  return {
    owner,
    ...newResponse(organization, previousId),
    log: '["created"]\n',
    status,
    run: { model: 'weir/echo' },
  }
}

/** An id as it would have been made at that time, in milliseconds. */
export function idOf(time: number, number = 0): string {
  return `resp_${time.toString(16).padStart(12, '0')}${number.toString(16).padStart(20, '0')}`
}

function newResponse(organization: string, previousId: string | undefined) {
  const id = timeSortedId('resp_')
  return {
    id,
    organization,
    previousId,
    head: { id, metadata: { é: '"' } },
    input: [{ type: 'message', of: id }],
  }
}

function chainOfIds(count: number): string[] {
  return Array.from({ length: count }, () => timeSortedId('resp_'))
}

function idsIn(sqlite: Sqlite, table: 'responses' | 'response_log', column: string): unknown[] {
  return sqlite.prepare<unknown[], []>(`SELECT ${column} FROM ${table} ORDER BY ${column}`).values().flat()
}
