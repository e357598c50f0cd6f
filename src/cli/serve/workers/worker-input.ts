import type { LoadedSettings } from '../../../config/load.ts'
import type { ServeInput } from '../serve-input.ts'
import type { WorkerInput } from './procedures.ts'
import { outputFormat } from './worker-output.ts'

/**
 * Returns a function that creates the input of each worker. A worker that starts after a reload has the new settings, but
 * listens where the others do, and uses the same database.
 */
export function createWorkerInput(
  { loaded: first, drainMs, flags, output }: ServeInput,
  port: number,
): (number: number, loaded: LoadedSettings) => WorkerInput {
  const { dataFolder } = first
  const { host, tls, database } = first.settings
  const format = outputFormat(output.context, flags.json === true)
  const address = { host, port, ...(tls && { tls }), ...(database !== undefined && { database }) }
  return (number, loaded) => {
    const { tls: _tls, database: _database, ...settings } = loaded.settings
    return {
      number,
      loaded: { ...loaded, dataFolder, settings: { ...settings, ...address } },
      drainMs,
      format,
    }
  }
}
