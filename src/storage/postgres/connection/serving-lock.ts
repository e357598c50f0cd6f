import type { Secret } from '../../../lib/secret.ts'
import { type Connections, openConnections } from './connections.ts'
import { type Database, operatorError } from './database.ts'

/** Any number, the same in every version of the program; the second part of the lock is the schema. */
const servingLock = 7_239_118

/** The time between two checks of the connection that holds the lock, and before it is replaced. */
const checkIntervalMs = 2000
const retryIntervalMs = 250

/**
 * Locks the database until the lock is released or the process ends: two servers would settle each other's open
 * reservations. The lock belongs to a transaction that stays open, so that it also works through a connection pooler. If
 * its connection is lost it is taken again; requests are rejected while another server has it. Rejects with an error for
 * the operator if another server has the lock.
 */
export async function lockForServing(
  url: Secret,
  { label, health }: Pick<Database, 'label' | 'health'>,
): Promise<{ release(): Promise<void> }> {
  const connections = openConnections(url, 1)
  const stopped = Promise.withResolvers<void>()
  const first = Promise.withResolvers<void>()
  const state = { taken: false, released: false }

  function taken(): void {
    state.taken = true
    health.block(undefined)
    first.resolve()
  }

  async function holdUntilReleased(): Promise<void> {
    while (!state.released) {
      try {
        await hold(connections, stopped.promise, taken)
      } catch (error) {
        first.reject(error instanceof LockedError ? inUse(label) : operatorError(error, label))
        // A lost connection is replaced at once; only another server is a reason to reject requests.
        if (error instanceof LockedError && state.taken) health.block(error)
        await Promise.race([Bun.sleep(retryIntervalMs), stopped.promise])
      }
    }
  }

  async function release(): Promise<void> {
    state.released = true
    stopped.resolve()
    await holding
    await connections.close()
  }

  const holding = holdUntilReleased()
  await first.promise.catch(async (error) => {
    await release()
    throw error
  })
  return { release }
}

class LockedError extends Error {}

/** Takes the lock and keeps it until `stopped`; rejects if another process has it, or if the connection is lost. */
function hold(connections: Connections, stopped: Promise<void>, taken: () => void): Promise<void> {
  return connections.use(async ({ send, lost }) => {
    await send('BEGIN')
    const { rows } = await send<{ readonly locked: boolean }>(
      `SELECT pg_try_advisory_xact_lock(${servingLock}, hashtext(current_schema())) locked`,
    )
    if (rows[0]?.locked !== true) throw new LockedError('Another weir server uses the database.')
    taken()
    const ends = [lost.then(() => 'lost'), stopped.then(() => 'stopped')]
    for (;;) {
      await send('SELECT 1')
      const end = await Promise.race([...ends, sleep(checkIntervalMs)])
      if (end === 'lost') throw new Error('The connection with the lock of the server was lost.')
      if (end === 'stopped') break
    }
    await send('ROLLBACK')
  })
}

function sleep(milliseconds: number): Promise<void> {
  return new Promise((resolve) => void setTimeout(resolve, milliseconds).unref())
}

function inUse(label: string): Error {
  return new Error(
    `The database ${label} is in use by another weir server. Stop that server, or choose another database.`,
  )
}
