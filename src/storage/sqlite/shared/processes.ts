import { Database as Sqlite } from 'bun:sqlite'
import type { ListedProcess, Processes } from '../../ports/processes.ts'
import { isBusy, toOutage } from '../sqlite-errors.ts'

/** The processes, and a function that closes the connection. */
export type OpenProcesses = Processes & { close(): void }

/**
 * Opens the processes of the database in this file. The beats have a connection of their own, and try to get the lock for
 * seconds, so that a process is not taken for a dead one because the others write a lot.
 */
export function openProcesses(file: string, now: () => number = Date.now): OpenProcesses {
  const sqlite = new Sqlite(file, { readwrite: true, create: false })
  // The writers make checkpoints, and this thread never waits for a lock.
  for (const pragma of ['busy_timeout = 0', 'synchronous = NORMAL', 'wal_autocheckpoint = 0'])
    sqlite.run(`PRAGMA ${pragma}`)
  const statements = prepareStatements(sqlite)
  const remove = sqlite.transaction((id: string, beat: number | null) => {
    const removed = statements.remove.run(id, beat).changes > 0
    if (removed) statements.removeSlots.run(id)
    return removed
  })
  return {
    async enter(id, osProcess) {
      await whenUnlocked(() => statements.enter.run(id, now(), osProcess ?? null))
    },
    beat: (id) => whenUnlocked(() => statements.beat.run(id).changes > 0),
    list: () => whenUnlocked(() => statements.list.all()),
    remove: ({ id, beat }) => whenUnlocked(() => remove.immediate(id, beat)),
    async leave(id) {
      await whenUnlocked(() => remove.immediate(id, null))
    },
    close: () => sqlite.close(),
  }
}

function prepareStatements(sqlite: Sqlite) {
  return {
    enter: sqlite.prepare<unknown, [string, number, string | null]>(
      'INSERT INTO processes (id, beat, started_at, os_process) VALUES (?, 0, ?, ?) ON CONFLICT DO NOTHING',
    ),
    beat: sqlite.prepare<unknown, [string]>('UPDATE processes SET beat = beat + 1 WHERE id = ?'),
    list: sqlite.prepare<ListedProcess, []>(
      'SELECT id, beat, os_process osProcess FROM processes ORDER BY started_at, id',
    ),
    remove: sqlite.prepare<unknown, [string, number | null]>(
      'DELETE FROM processes WHERE id = ? AND beat = coalesce(?, beat)',
    ),
    removeSlots: sqlite.prepare<unknown, [string]>('DELETE FROM slot_leases WHERE process_id = ?'),
  }
}

/** Writers release the lock after each transaction, so one of these attempts gets it unless a writer keeps it. */
const lockIntervalMs = 5
const lockTimeoutMs = 1500

async function whenUnlocked<T>(work: () => T): Promise<T> {
  for (const deadline = performance.now() + lockTimeoutMs; ;) {
    try {
      return work()
    } catch (error) {
      if (!isBusy(error) || performance.now() > deadline) throw toOutage(error)
    }
    await Bun.sleep(lockIntervalMs)
  }
}
