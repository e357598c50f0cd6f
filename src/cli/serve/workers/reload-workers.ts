import type { LoadedSettings } from '../../../config/load.ts'
import { configure } from '../../../gateway/configuration.ts'
import { causeOf, createLog, type Log } from '../../../lib/log.ts'
import { logReload, onReloadSignal, recordReload } from '../reload.ts'
import type { ServeInput } from '../output.ts'
import { CallRejected } from './channel.ts'
import type { WorkerPool } from './worker-pool.ts'

/** Discovery delays a reload by a second. */
const reloadTimeoutMs = 30_000
/** Longer than a write waits for the database. */
const recordTimeoutMs = 30_000

/**
 * Reloads the settings of all workers on SIGHUP. They are validated before any worker receives them; if one of them
 * rejects them nevertheless, all keep the earlier ones.
 */
export function reloadWorkersOnSignal(
  pool: WorkerPool,
  { load, output: { context } }: Pick<ServeInput, 'load' | 'output'>,
  log: Log,
): void {
  onReloadSignal(async () => {
    const earlier = pool.loaded
    const loaded = load()
    configure(
      { ...loaded, environment: context.environment },
      createLog(() => {}),
    )
    try {
      pool.setLoaded(loaded)
      await reloadAll(pool, loaded)
    } catch (error) {
      pool.setLoaded(earlier)
      await reloadAll(pool, earlier)
      throw error
    }
    const [worker] = pool.ready()
    const record = async (changed: readonly string[]) =>
      worker?.call('recordReload', changed, recordTimeoutMs)
    await recordReload(logReload(earlier, loaded, log), record, log)
  }, log)
}

/** Rejects if a worker rejects the settings; one that does not answer is replaced, and starts with the active ones. */
async function reloadAll(pool: WorkerPool, loaded: LoadedSettings): Promise<void> {
  const results = await Promise.allSettled(
    pool.ready().map((worker) =>
      worker.call('reload', loaded, reloadTimeoutMs).catch((error: unknown) => {
        if (error instanceof CallRejected) throw error
        worker.kill()
      }),
    ),
  )
  const rejected = results.find((result) => result.status === 'rejected')
  if (rejected !== undefined) throw new Error(causeOf(rejected.reason))
}
