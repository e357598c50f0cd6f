import type { JsonObject } from '../../../lib/json/json.ts'
import type { AcquireMemory } from '../../../lib/memory-budget.ts'
import type { Responses, ResponseStatus, StoredResponse, UnfinishedRun } from '../../ports/responses.ts'
import { createResponseList } from '../../common/response-list.ts'
import { createEraser } from '../../common/eraser.ts'
import { createPins, type Pins } from '../../common/pins.ts'
import { parseStored, parseStoredList } from '../../ports/stored-json.ts'
import type { Database } from '../connection/database.ts'
import { read } from '../sqlite-errors.ts'
import type { Writer } from '../writer/writer.ts'
import { completeLog, logSize, pieceCount } from './log-sql.ts'
import { prepareListReads } from './response-list.ts'
import { prepareChains } from './response-chain.ts'
import { prepareRemovals, type Removals } from './response-removal.ts'
import { prepareResponseWrites } from './response-writes.ts'

/** The responses in the SQLite database. */
export function createResponses(database: Database, writer: Writer): Responses {
  const { find, findInput, findRun, unfinished } = prepareReads(database)
  const writes = prepareResponseWrites(database)
  const chains = prepareChains(database)
  const pins = createPins()
  const removals = prepareRemovals(database, pins)
  const startErasing = createEraser(
    // Takes the lock of the database only if something is due.
    async () => (removals.hasDue() ? await writer.write(removals.eraseDue) : 0),
  )

  // Erases what an earlier process left.
  startErasing()
  return {
    start: (organization, id) => writer.write(() => writes.start(organization, id)),
    append: (organization, id, position, entries) =>
      writer.write(() => writes.append(organization, id, position, entries)),
    find,
    findInput,
    list: createResponseList({ ...prepareListReads(database), find }),
    findRun: (organization, id) => read(() => findRun(organization, id)),
    chain: chains.ofFinished,
    runContext: chains.ofUnfinished,
    pin: createPinning(pins, writer, startErasing),
    async postponeErasures() {},
    ...createRemoving(removals, writer, startErasing),
    // Not mapped to a 503: recovery runs at startup, whose errors are for the operator.
    unfinished: async (after, limit) => unfinished.all(after, limit),
  }
}

function createRemoving(
  removals: Removals,
  writer: Writer,
  startErasing: () => void,
): Pick<Responses, 'remove' | 'expire'> {
  return {
    async remove(organization, id) {
      const removal = await writer.write(() => removals.remove(organization, id))
      if (removal === 'removed') startErasing()
      return removal
    },
    async expire(before) {
      const removed = await writer.write(() => removals.expire(firstIdOf(before)))
      if (removed > 0) startErasing()
      return removed
    },
  }
}

/** Calls `startErasing` when a response that was removed loses its last pin. */
function createPinning(pins: Pins, writer: Writer, startErasing: () => void): Responses['pin'] {
  return (id) => {
    pins.add(id)
    let pinned = true
    const unpin = () => void (pins.remove(id) && startErasing())
    return () => {
      if (!pinned) return
      pinned = false
      // After the writes that this turn of the event loop still starts: one of them may store the response that follows.
      queueMicrotask(() => void writer.write(() => {}).then(unpin, unpin))
    }
  }
}

/** Lower than every id of that millisecond, higher than those before it. */
function firstIdOf(time: number): string {
  return `resp_${Math.max(0, Math.floor(time)).toString(16).padStart(12, '0')}`
}

type ResponseRow = {
  readonly id: string
  readonly status: ResponseStatus
  readonly head: string
  readonly log: string
  readonly pieces: number
}

function prepareReads(database: Database) {
  const statements = prepareStatements(database)

  // Everything parsed here was written by `insert`.
  async function find(
    organization: string,
    id: string,
    hold?: AcquireMemory,
  ): Promise<StoredResponse | undefined> {
    if (hold) await hold((await read(() => statements.sizes.get(id, organization)))?.others ?? 0)
    const row = await read(() => statements.response.get(id, organization))
    return row === null ? undefined : { ...row, head: parseStored(`response ${id}`, row.head) }
  }
  async function findInput(organization: string, id: string, hold?: AcquireMemory) {
    if (hold) await hold((await read(() => statements.sizes.get(id, organization)))?.input ?? 0)
    const row = await read(() => statements.input.get(id, organization))
    return row === null ? undefined : await parseStoredList<JsonObject>(`response ${id}`, row.input)
  }
  function findRun(organization: string, id: string): JsonObject | undefined {
    const text = statements.run.get(id, organization)?.run
    return text == null ? undefined : parseStored(`response ${id}`, text)
  }
  return { find, findInput, findRun, unfinished: statements.unfinished }
}

function prepareStatements({ sqlite }: Database) {
  const visible = 'FROM responses WHERE id = ? AND organization_id = ? AND deletion IS NULL'
  return {
    response: sqlite.prepare<ResponseRow, [string, string]>(
      `SELECT id, status, head, ${completeLog} log, ${pieceCount} pieces ${visible}`,
    ),
    input: sqlite.prepare<{ readonly input: string }, [string, string]>(`SELECT input ${visible}`),
    run: sqlite.prepare<{ readonly run: string | null }, [string, string]>(`SELECT run ${visible}`),
    sizes: sqlite.prepare<{ readonly input: number; readonly others: number }, [string, string]>(
      `SELECT octet_length(input) input, octet_length(head) + ${logSize} others ${visible}`,
    ),
    unfinished: sqlite.prepare<UnfinishedRun, [string, number]>(
      `SELECT id, organization_id organization, status, head, run, ${completeLog} log FROM responses ` +
        "WHERE id > ? AND status IN ('queued', 'in_progress') ORDER BY id LIMIT ?",
    ),
  }
}
