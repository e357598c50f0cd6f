import { type Query, serverTime } from '../connection/connections.ts'
import { migrations } from '../connection/migrate.ts'

/**
 * The processes that use the database. Whether a process is alive is judged by its heartbeats, not by clocks: the others watch
 * whether its count changes, and evict it if it does not. Those on the same machine see when it has ended, and need not wait.
 * The eviction decides: from then on, the others settle what the process has left open, and a process that finds itself
 * evicted ends its calls and registers again.
 */
export type Processes = ReturnType<typeof createProcesses>

export type ProcessBeat = { readonly id: string; readonly beat: number }

export type ListedProcess = ProcessBeat & {
  /** Null if the process has registered without. */
  readonly osProcess: string | null
}

/** Every statement may run twice, because `query` repeats one whose connection was lost. */
export function createProcesses(query: Query) {
  const run = <Row>(text: string, ...values: readonly unknown[]) => query<Row>(text, values, timeoutMs)
  return {
    /** Adds this process; with its `ownOsProcess`, the others on its machine see when it has ended. */
    async register(id: string, osProcess?: string) {
      await query(register, [id, osProcess ?? null])
    },
    /** Counts a heartbeat; resolves with false if the process was evicted. */
    heartbeat: async (id: string) => (await run(heartbeat, id)).length > 0,
    list: () => run<ListedProcess>(list),
    /** Removes a process whose count is still this one, with the slots that it has; resolves with false for any other. */
    evict: async (process: ProcessBeat) => (await run(remove, process.id, process.beat)).length > 0,
    /** Removes this process and its slots at its regular end. */
    async deregister(id: string) {
      await run(remove, id, null)
    },
  }
}

/** Less than the time between two heartbeats. */
const timeoutMs = 1500

const register = `INSERT INTO processes (id, beat, started_at, os_process, schema)
  VALUES ($1, 0, ${serverTime}, $2, ${migrations.length}) ON CONFLICT DO NOTHING`

const list = 'SELECT id, beat, os_process "osProcess" FROM processes ORDER BY started_at, id'

const heartbeat = 'UPDATE processes SET beat = beat + 1 WHERE id = $1 RETURNING id'

/** Waits for a transaction that reserves for this process: see `reserveStatement`. */
const remove = `WITH removed AS (
    DELETE FROM processes WHERE id = $1 AND beat = coalesce($2, beat) RETURNING id),
  slots AS (DELETE FROM slot_leases USING removed WHERE process_id = removed.id)
  SELECT id FROM removed`
