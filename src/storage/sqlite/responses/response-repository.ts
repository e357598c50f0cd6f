import type { JsonObject } from '../../../lib/json/json.ts'
import type { Hold } from '../../../lib/memory-budget.ts'
import type { NewResponse, Removal, Responses, StoredResponse } from '../../ports/responses.ts'
import { parseStored, parseStoredList } from '../../stored-json.ts'
import type { Database } from '../connection/database.ts'
import { organizationExistsSql } from '../organizations/organization-row.ts'
import { read } from '../sqlite-errors.ts'
import type { ResponseStatus } from '../tables.ts'
import type { Writer } from '../writer/writer.ts'
import { prepareChains } from './response-chain.ts'
import { createErasing, createHolds, type Holds, prepareRemovals } from './response-removal.ts'
import { logSize, prepareRuns, wholeLog } from './response-runs.ts'

/** Keeps responses in the database. */
export function createResponses(database: Database, writer: Writer): Responses {
  const insert = prepareInsert(database)
  const { find, findInput, findRun } = prepareFinds(database)
  const runs = prepareRuns(database)
  const chains = prepareChains(database)
  const holds = createHolds()
  const removals = prepareRemovals(database, holds)
  const eraseOn = createErasing(writer, removals)

  async function remove(organization: string, id: string): Promise<Removal> {
    const removal = await writer.write(() => removals.remove(organization, id))
    if (removal === 'removed') eraseOn()
    return removal
  }

  // What an earlier process has left.
  eraseOn()
  return {
    insert,
    finish: runs.finish,
    start: (organization, id) => writer.write(() => runs.start(organization, id)),
    append: (organization, id, position, entries) =>
      writer.write(() => runs.append(organization, id, position, entries)),
    find,
    findInput,
    findRun: (organization, id) => read(() => findRun(organization, id)),
    chain: chains.ofFinished,
    runContext: chains.ofUnfinished,
    hold: createHolding(holds, writer, eraseOn),
    remove,
    expire: (before) => writer.write(() => removals.expire(firstIdOf(before))),
    unfinished: runs.unfinished,
  }
}

/** `erasable` is called when one that was removed is held no more. */
function createHolding(holds: Holds, writer: Writer, erasable: () => void): Responses['hold'] {
  return (id) => {
    holds.hold(id)
    let held = true
    const over = () => void (holds.letGo(id) && erasable())
    return () => {
      if (!held) return
      held = false
      // Behind the writes that this turn of the event loop still begins: one of them may store what follows it.
      queueMicrotask(() => void writer.write(() => {}).then(over, over))
    }
  }
}

/** Lower than every id of that millisecond, higher than those before it. */
function firstIdOf(time: number): string {
  return `resp_${Math.max(0, Math.floor(time)).toString(16).padStart(12, '0')}`
}

function prepareInsert({ sqlite }: Database): (response: NewResponse) => void {
  // The organization may be deleted while its call runs, which is no fault of that call.
  const insert = sqlite.prepare(
    'INSERT INTO responses (id, organization_id, previous_id, status, head, run, log, input) ' +
      `SELECT ?, id, ?, ?, ?, ?, ?, ? FROM organizations WHERE id = ? AND ${organizationExistsSql}`,
  )
  return (response) => {
    const { id, organization, previousId, status, head, log, input } = response
    const run = 'run' in response ? JSON.stringify(response.run) : null
    const [headText, inputText] = [JSON.stringify(head), JSON.stringify(input)]
    insert.run(id, previousId ?? null, status, headText, run, log, inputText, organization)
  }
}

type ResponseRow = {
  readonly id: string
  readonly status: ResponseStatus
  readonly head: string
  readonly log: string
}

function prepareFinds({ sqlite }: Database) {
  const inSight = 'FROM responses WHERE id = ? AND organization_id = ? AND deletion IS NULL'
  const response = sqlite.prepare<ResponseRow, [string, string]>(
    `SELECT id, status, head, ${wholeLog} log ${inSight}`,
  )
  const input = sqlite.prepare<{ readonly input: string }, [string, string]>(`SELECT input ${inSight}`)
  const run = sqlite.prepare<{ readonly run: string | null }, [string, string]>(`SELECT run ${inSight}`)

  const sizes = sqlite.prepare<{ readonly input: number; readonly others: number }, [string, string]>(
    `SELECT octet_length(input) input, octet_length(head) + ${logSize} others ${inSight}`,
  )

  // What is parsed here was written by `insert`.
  async function find(organization: string, id: string, hold?: Hold): Promise<StoredResponse | undefined> {
    if (hold) await hold((await read(() => sizes.get(id, organization)))?.others ?? 0)
    const row = await read(() => response.get(id, organization))
    return row === null ? undefined : { ...row, head: parseStored(`response ${id}`, row.head) }
  }
  async function findInput(organization: string, id: string, hold?: Hold) {
    if (hold) await hold((await read(() => sizes.get(id, organization)))?.input ?? 0)
    const row = await read(() => input.get(id, organization))
    return row === null ? undefined : await parseStoredList<JsonObject>(`response ${id}`, row.input)
  }
  function findRun(organization: string, id: string): JsonObject | undefined {
    const text = run.get(id, organization)?.run
    return text == null ? undefined : parseStored(`response ${id}`, text)
  }
  return { find, findInput, findRun }
}
