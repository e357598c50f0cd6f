import type { Database as Sqlite } from 'bun:sqlite'
import { timeSortedId } from '../../../../src/lib/id.ts'
import type {
  FinishedStatus,
  NewResponse,
  ResponseEnd,
  UnfinishedStatus,
} from '../../../../src/storage/ports/responses.ts'
import { createOrganizations } from '../../../../src/storage/sqlite/organizations/organizations.ts'
import { prepareResponseWrites } from '../../../../src/storage/sqlite/responses/response-writes.ts'
import { createResponses } from '../../../../src/storage/sqlite/responses/responses.ts'
import { testStorage } from './folder.ts'

/** Two organizations, and the responses of both. */
export async function responseStorage() {
  const { database, writer } = testStorage()
  const organizations = createOrganizations(database, writer)
  const responses = createResponses(database, writer)
  const writes = prepareResponseWrites(database)
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
  return {
    database,
    writer,
    organizations,
    responses,
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
  return {
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
