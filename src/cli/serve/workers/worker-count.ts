import { availableParallelism } from 'node:os'
import type { Settings } from '../../../config/settings.ts'

type WorkerSettings = Pick<Settings, 'workers' | 'database'>

/** Returns the number of worker processes: for the setting 0, one for each core if several can serve. */
export function workerCount(settings: WorkerSettings, platform: NodeJS.Platform = process.platform): number {
  if (settings.workers > 0) return settings.workers
  return obstacle(settings, platform) === undefined ? availableParallelism() : 1
}

/** Returns why this number of workers cannot serve, as the end of a sentence about the setting; undefined if it can. */
export function workersProblem(
  settings: WorkerSettings,
  platform: NodeJS.Platform = process.platform,
): string | undefined {
  return settings.workers > 1 ? obstacle(settings, platform) : undefined
}

function obstacle({ database }: WorkerSettings, platform: NodeJS.Platform): string | undefined {
  if (platform !== 'linux')
    return 'must be 0 or 1 on this system. Several processes can share a port only on Linux.'
  if (database !== undefined) return undefined
  return (
    'must be 0 or 1 with SQLite, which one process uses. ' +
    'Several need PostgreSQL: set database, or WEIR_DATABASE, to a postgres:// URL.'
  )
}
