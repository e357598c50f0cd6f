import type { LoadedSettings } from '../../../config/load.ts'
import { configure } from '../../../gateway/configuration.ts'
import { type Log, silentLog } from '../../../lib/log.ts'
import { openStorage } from '../../../storage/open-storage.ts'
import { createFirstKeys, type FirstKeys } from '../../../server/first-keys.ts'
import type { CliContext } from '../../context.ts'
import { logTo, logWarnings } from '../../log.ts'
import { compileFromNowOn } from '../jit-policy.ts'
import { type ClaimedPort, claimPort } from '../listen.ts'
import type { ServeInput } from '../output.ts'
import { listenForReloadSignals, type ReloadSignals, reloadWorkersOnSignal } from '../reload.ts'
import { listenForStopSignals, logShutdown, type StopSignals, unlessStopped } from '../shutdown.ts'
import { databaseLocation } from '../../../storage/database-location.ts'
import { startupText } from '../banner.ts'
import { createLiveEventsCollector, createMetricsCollector } from './collect.ts'
import type { WorkerInput } from './procedures.ts'
import { createWorkerLines, outputFormat, type WorkerLines } from './worker-output.ts'
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
  const reloadSignals = listenForReloadSignals()
  logWarnings(loaded.warnings, log)
  // Throws before anything is created or changed. The first worker logs the warnings.
  configure({ ...loaded, environment: context.environment }, silentLog)
  const port = await claimPort(loaded.settings, log)
  try {
    const prepare = (stopping: AbortSignal) => prepareDatabase(loaded, context.environment, log, stopping)
    const firstKeys = await unlessStopped(prepare, stopSignals, log)
    if (firstKeys === undefined) return
    compileFromNowOn()
    await supervise({ ...input, count, port, log, stopSignals, reloadSignals, firstKeys })
  } finally {
    port.release()
  }
}

/** Migrates the database and creates the first keys, before the workers open it at the same time. */
async function prepareDatabase(
  loaded: LoadedSettings,
  environment: CliContext['environment'],
  log: Log,
  stopping: AbortSignal,
): Promise<FirstKeys> {
  const storage = await openStorage(databaseLocation(loaded), log, { stopping })
  try {
    return await createFirstKeys(storage, environment)
  } finally {
    await storage.close()
  }
}

type SupervisorInput = ServeInput & {
  readonly count: number
  readonly port: ClaimedPort
  readonly firstKeys: FirstKeys
  readonly stopSignals: StopSignals
  readonly reloadSignals: ReloadSignals
  readonly log: Log
}

async function supervise(input: SupervisorInput): Promise<void> {
  const { port, firstKeys, drainMs, log, stopSignals, output } = input
  const lines = createWorkerLines(output, input.flags.json === true)
  const pool = createPool(input, lines)
  try {
    const facts = await Promise.race([pool.start(), stopSignals.first])
    if (facts !== undefined) {
      lines.showBanner(startupText({ facts, firstKeys, url: port.url }, input))
      reloadWorkersOnSignal(input.reloadSignals, pool, input, log)
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
