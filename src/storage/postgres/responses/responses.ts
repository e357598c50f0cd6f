import { randomUUID } from 'node:crypto'
import type { JsonObject } from '../../../lib/json/json.ts'
import type { AcquireMemory } from '../../../lib/memory-budget.ts'
import { createResponseList } from '../../common/response-list.ts'
import { createEraser } from '../../common/eraser.ts'
import { createPins, type Pins, sharedErasureDelayMs } from '../../common/pins.ts'
import type { Responses, ResponseStatus, StoredResponse, UnfinishedRun } from '../../ports/responses.ts'
import { parseStored, parseStoredList } from '../../ports/stored-json.ts'
import type { Query } from '../connection/connections.ts'
import type { Database } from '../connection/database.ts'
import { toWriteRows } from '../writes.ts'
import type { Writer } from '../writer/writer.ts'
import { completeLog, logSize, pieceCount } from './log-sql.ts'
import { createListReads } from './response-list.ts'
import { createChains } from './response-chain.ts'
import { hasDue, postpone } from './response-erasures.ts'
import { createRemovals } from './response-removal.ts'

/** The responses in the PostgreSQL database. `erasureDelayMs` is 0 if no other process uses it. */
export function createResponses(
  { query, transact, writer }: Database,
  erasureDelayMs = sharedErasureDelayMs,
): Responses {
  const chains = createChains(query)
  const pins = createPins()
  const removals = createRemovals(transact, pins, erasureDelayMs)
  const startErasing = createEraser(removals.eraseDue, {
    hasDueLater: () => hasDue(query),
    delayMs: erasureDelayMs,
  })
  // Erases what an earlier process left.
  startErasing()
  const reads = createReads(query)
  return {
    ...reads,
    list: createResponseList({ ...createListReads(query), find: reads.find }),
    start: (organization, id) =>
      transact(async (query) => (await query(start, [id, organization])).length > 0),
    async append(organization, id, position, entries) {
      await transact((query) => query(append, [id, organization, position, entries]))
    },
    chain: chains.ofFinished,
    runContext: chains.ofUnfinished,
    pin: createPinning(pins, writer, startErasing),
    async remove(organization, id) {
      const removal = await removals.remove(organization, id)
      if (removal === 'removed') startErasing()
      return removal
    },
    postponeErasures: () => postpone(query, pins.all(), erasureDelayMs),
    async expire(before) {
      const removed = await removals.expire(firstIdOf(before))
      if (removed > 0) startErasing()
      return removed
    },
    unfinished: (after, limit) => query<UnfinishedRun>(selectUnfinished, [after, limit]),
  }
}

/** Calls `startErasing` when a response that was removed loses its last pin. */
function createPinning(pins: Pins, writer: Writer, startErasing: () => void): Responses['pin'] {
  return (id) => {
    pins.add(id)
    let pinned = true
    const unpin = () => void (pins.remove(id) && startErasing())
    const written = () => writer.write({ kind: 'write', id: randomUUID(), rows: toWriteRows('', []) })
    return () => {
      if (!pinned) return
      pinned = false
      // After the writes that this turn of the event loop still starts: one of them may store the response that follows.
      setImmediate(() => void written().then(unpin, unpin))
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

function createReads(query: Query): Pick<Responses, 'find' | 'findInput' | 'findRun'> {
  async function sizesOf(organization: string, id: string): Promise<Sizes> {
    const [sizes] = await query<Sizes>(selectSizes, [id, organization])
    return sizes ?? { input: 0, others: 0 }
  }

  return {
    async find(organization, id, hold): Promise<StoredResponse | undefined> {
      if (hold) await hold((await sizesOf(organization, id)).others)
      const [row] = await query<ResponseRow>(selectResponse, [id, organization])
      return row && { ...row, head: parseStored(`response ${id}`, row.head) }
    },
    async findInput(organization, id, hold?: AcquireMemory) {
      if (hold) await hold((await sizesOf(organization, id)).input)
      const [row] = await query<{ readonly input: string }>(`SELECT input ${visible}`, [id, organization])
      return row && (await parseStoredList<JsonObject>(`response ${id}`, row.input))
    },
    async findRun(organization, id) {
      const [row] = await query<{ readonly run: string | null }>(`SELECT run ${visible}`, [id, organization])
      return row?.run == null ? undefined : parseStored(`response ${id}`, row.run)
    },
  }
}

type Sizes = { readonly input: number; readonly others: number }

const visible = 'FROM responses WHERE id = $1 AND organization_id = $2 AND deletion IS NULL'

const selectResponse = `SELECT id, status, head, ${completeLog} log, ${pieceCount} pieces ${visible}`

const selectSizes = `SELECT octet_length(input) input, (octet_length(head) + ${logSize})::bigint others ${visible}`

const selectUnfinished = `SELECT id, organization_id organization, status, head, run, ${completeLog} log FROM responses
  WHERE id > $1 AND status IN ('queued', 'in_progress') ORDER BY id LIMIT $2`

const start = `UPDATE responses SET status = 'in_progress'
  WHERE id = $1 AND organization_id = $2 AND status = 'queued' RETURNING id`

/** The lock keeps the end of the run from missing the piece. */
const append = `WITH run AS (
    SELECT id FROM responses WHERE id = $1 AND organization_id = $2 AND status = 'in_progress' FOR SHARE)
  INSERT INTO response_log (response_id, position, entries) SELECT id, $3, $4 FROM run ON CONFLICT DO NOTHING`
