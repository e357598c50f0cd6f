import type { LoadedSettings } from '../../../config/load.ts'
import { configure } from '../../../gateway/configuration.ts'
import { createLog, type Log } from '../../../lib/log.ts'
import { openStorage } from '../../../storage/open-storage.ts'
import type { NewKey } from '../../../storage/ports/accounts.ts'
import { logTo, logWarnings } from '../../log.ts'
import type { ServeInput } from '../output.ts'
import { listenForStopSignals, logShutdown, type StopSignals } from '../shutdown.ts'
import { databaseLocation } from '../../../storage/database-location.ts'
import { startupText } from '../banner.ts'
import { type ClaimedPort, claimPort } from './claim-port.ts'
import { createLiveEventsCollector, createMetricsCollector } from './collect.ts'
import { reloadWorkersOnSignal } from './reload-workers.ts'
import type { WorkerInput } from './procedures.ts'
import { outputFormat } from './worker-output.ts'
import { createWorkerLines, type WorkerLines } from './worker-lines.ts'
import { WorkerPool } from './worker-pool.ts'
import { spawnWorker } from './worker-process.ts'

/**
 * Serves with this number of worker processes, until a signal stops them. This process is their supervisor: it listens
 * for signals, owns the outputs, and replaces workers; only they accept connections.
 */
export async function serveWithWorkers(count: number, input: ServeInput): Promise<void> {
  const { loaded, flags, output } = input
  const { context } = output
  const log = logTo(context, flags.json)
  using stopSignals = listenForStopSignals(context)
  logWarnings(loaded.warnings, log)
  // Throws before anything is created or changed. The first worker logs the warnings.
  configure({ ...loaded, environment: context.environment }, silent)
  const port = await claimPort(loaded.settings, log)
  try {
    const firstKey = await prepareDatabase(loaded, context.environment.WEIR_BOOTSTRAP_KEY, log)
    await supervise({ ...input, count, port, log, stopSignals, firstKey })
  } finally {
    port.release()
  }
}

/**
 * Migrates the database and creates the first key, before the workers open it at the same time. Resolves with the generated
 * key of a new database, to be shown once; undefined for WEIR_BOOTSTRAP_KEY.
 */
async function prepareDatabase(
  loaded: LoadedSettings,
  bootstrapKey: string | undefined,
  log: Log,
): Promise<NewKey | undefined> {
  const storage = await openStorage(databaseLocation(loaded), log)
  try {
    const created = await storage.bootstrap(bootstrapKey)
    return bootstrapKey ? undefined : created
  } finally {
    await storage.close()
  }
}

type SupervisorInput = ServeInput & {
  readonly count: number
  readonly port: ClaimedPort
  readonly firstKey: NewKey | undefined
  readonly stopSignals: StopSignals
  readonly log: Log
}

const silent = createLog(() => {})

async function supervise(input: SupervisorInput): Promise<void> {
  const { port, firstKey, drainMs, log, stopSignals, output } = input
  const lines = createWorkerLines(output, input.flags.json === true)
  const pool = createPool(input, lines)
  try {
    const facts = await Promise.race([pool.start(), stopSignals.first])
    if (facts !== undefined) {
      lines.showBanner(startupText({ facts, firstKey, url: port.url }, input))
      reloadWorkersOnSignal(pool, input, log)
      await Promise.race([stopSignals.first, pool.failed])
    }
    logShutdown(drainMs, log)
    await pool.drain(drainMs, stopSignals.second)
  } finally {
    // After a failure, the workers that did start end at once.
    await pool.drain(0, Promise.resolve())
    await lines.flush()
  }
}

function createPool(input: SupervisorInput, lines: WorkerLines): WorkerPool {
  const metrics = createMetricsCollector(() => pool, lines.dropped)
  const otherLiveEvents = createLiveEventsCollector(() => pool)
  const pool: WorkerPool = new WorkerPool({
    count: input.count,
    loaded: input.loaded,
    input: createWorkerInput(input, input.port.port),
    spawn: () =>
      lines.relay((listener) => spawnWorker({ ...listener, otherMetrics: metrics.others, otherLiveEvents })),
    onEnded: metrics.keep,
    log: input.log,
  })
  return pool
}

/**
 * Returns a function that creates the input of each worker. A worker that starts after a reload has the new settings, but
 * listens where the others do, and uses the same database.
 */
function createWorkerInput(
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
