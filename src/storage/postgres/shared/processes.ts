import { serverTime } from '../connection/clock.ts'
import type { Query } from '../connection/connections.ts'
import type { ListedProcess, Processes } from '../../ports/processes.ts'

/** Every statement may run twice, because `query` repeats one whose connection was lost. */
export function createProcesses(query: Query): Processes {
  const run = <Row>(text: string, ...values: readonly unknown[]) => query<Row>(text, values, timeoutMs)
  return {
    async enter(id, osProcess) {
      await run(enter, id, osProcess ?? null)
    },
    beat: async (id) => (await run(beat, id)).length > 0,
    list: () => run<ListedProcess>(list),
    remove: async (process) => (await run(remove, process.id, process.beat)).length > 0,
    async leave(id) {
      await run(remove, id, null)
    },
  }
}

/** Less than the time between two beats. */
const timeoutMs = 1500

const enter = `INSERT INTO processes (id, beat, started_at, os_process) VALUES ($1, 0, ${serverTime}, $2)
  ON CONFLICT DO NOTHING`

const list = 'SELECT id, beat, os_process "osProcess" FROM processes ORDER BY started_at, id'

const beat = 'UPDATE processes SET beat = beat + 1 WHERE id = $1 RETURNING id'

/** Waits for a transaction that reserves for this process: see `reserveStatement`. */
const remove = `WITH removed AS (
    DELETE FROM processes WHERE id = $1 AND beat = coalesce($2, beat) RETURNING id),
  slots AS (DELETE FROM slot_leases USING removed WHERE process_id = removed.id)
  SELECT id FROM removed`
