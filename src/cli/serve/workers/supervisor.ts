import type { LoadedSettings } from '../../../config/load.ts'
import { configure } from '../../../gateway/configuration.ts'
import { createLog, type Log } from '../../../lib/log.ts'
import { settleWithin } from '../../../lib/time.ts'
import { createLineWriter } from '../../../observability/request-log/line-writer.ts'
import { logTo, logWarnings } from '../../log.ts'
import { droppedLogLine } from '../output.ts'
import type { ServeInput } from '../serve-input.ts'
import { listenForStopSignals, logShutdown } from '../shutdown.ts'
import { databaseLocation } from '../start-runtime.ts'
import { startupText } from '../startup-text.ts'
import { type ClaimedPort, claimPort } from './claim-port.ts'
import { prepareDatabase } from './database.ts'
import { createMetricsGatherer } from './gather-metrics.ts'
import type { WorkerInput } from './procedures.ts'
import { reloadWorkersOnSignal } from './reload-workers.ts'
import { outputFormat } from './worker-output.ts'
import { WorkerPool } from './worker-pool.ts'
import { spawnWorker } from './worker-process.ts'

/**
 * Serves with this number of worker processes, until a signal stops them. This process is their supervisor: it listens
 * for signals, owns the outputs and the lock of the data folder, and replaces workers; only they accept connections.
 */
export async function serveWithWorkers(count: number, input: ServeInput): Promise<void> {
  const { loaded, flags, output } = input
  const { context } = output
  const log = logTo(context, flags.json)
  logWarnings(loaded.warnings, log)
  // Throws before anything is created or changed. The first worker logs the warnings.
  configure({ ...loaded, environment: context.environment }, silent)
  const port = await claimPort(loaded.settings, log)
  try {
    const location = databaseLocation(loaded)
    const database = await prepareDatabase(location, context.environment.WEIR_BOOTSTRAP_KEY, log)
    try {
      await supervise({ ...input, count, port, log, firstKey: database.firstKey })
    } finally {
      database.release()
    }
  } finally {
    port.release()
  }
}

type SupervisorInput = ServeInput & {
  readonly count: number
  readonly port: ClaimedPort
  readonly firstKey: Awaited<ReturnType<typeof prepareDatabase>>['firstKey']
  readonly log: Log
}

const silent = createLog(() => {})

async function supervise(input: SupervisorInput): Promise<void> {
  const { port, firstKey, drainMs, log, flags, output } = input
  const { context } = output
  const stopSignals = listenForStopSignals(context)
  const readable = context.terminal !== undefined && flags.json !== true
  const lines = createLineWriter(output.requests, droppedLogLine(readable))
  const bannerShown = Promise.withResolvers<void>()
  const outputsRead = new Set<Promise<void>>()
  const metrics = createMetricsGatherer(() => pool, lines.dropped)
  const pool: WorkerPool = new WorkerPool({
    count: input.count,
    loaded: input.loaded,
    input: createWorkerInput(input),
    spawn() {
      const worker = spawnWorker({
        outputReady: bannerShown.promise,
        onOutputLine: lines.write,
        onLogLine: context.err,
        otherMetrics: metrics.others,
      })
      outputsRead.add(worker.outputRead)
      void worker.outputRead.finally(() => outputsRead.delete(worker.outputRead))
      return worker
    },
    onEnded: metrics.keep,
    log,
  })
  try {
    const started = pool.start()
    const facts = await Promise.race([started, stopSignals.first])
    if (facts !== undefined) {
      context.out(startupText({ facts, firstKey, url: port.url }, input))
      bannerShown.resolve()
      reloadWorkersOnSignal(pool, input, log)
      await Promise.race([stopSignals.first, pool.failed])
    }
    logShutdown(drainMs, log)
    await pool.drain(drainMs, stopSignals.second)
  } finally {
    await pool.drain(0, Promise.resolve())
    bannerShown.resolve()
    await settleWithin(Promise.all(outputsRead), flushTimeoutMs)
    await lines.flush(flushTimeoutMs)
  }
}

const flushTimeoutMs = 1000

/** Returns the input of each worker. What takes effect at the next start of the server is that of its start. */
function createWorkerInput({ loaded: first, port, drainMs, flags, output }: SupervisorInput) {
  const { host, tls, database } = first.settings
  const format = outputFormat(output.context, flags.json === true)
  return (number: number, loaded: LoadedSettings): WorkerInput => {
    const { tls: _tls, database: _database, ...settings } = loaded.settings
    const address = {
      host,
      port: port.port,
      ...(tls && { tls }),
      ...(database !== undefined && { database }),
    }
    return {
      number,
      loaded: { ...loaded, dataFolder: first.dataFolder, settings: { ...settings, ...address } },
      drainMs,
      format,
    }
  }
}
