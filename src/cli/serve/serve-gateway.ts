import { dataFolderProblem, tlsProblems } from '../../config/file-problems.ts'
import type { LoadedSettings } from '../../config/load.ts'
import { SettingsError } from '../../config/problem.ts'
import { locateProblems } from '../../config/read-settings-file.ts'
import { configurationProblems, loadAllSettings } from '../../gateway/configuration.ts'
import type { Runtime } from '../../server/runtime.ts'
import { parseBootstrapKey } from '../../storage/bootstrap-key.ts'
import { databaseName, lockName } from '../../storage/database-location.ts'
import type { CliContext } from '../context.ts'
import { CommandError } from '../errors.ts'
import { logTo, logWarnings } from '../log.ts'
import { bannerFacts, startupText } from './banner.ts'
import { listen } from './listen.ts'
import { createServeOutput, type ServeInput } from './output.ts'
import { listenForReloadSignals, reloadOnSignal } from './reload.ts'
import { ignoreUserSignals, listenForStopSignals, logShutdown, shutDown, unlessStopped } from './shutdown.ts'
import { createRequestLines, fetchWhenStarted, startRuntime } from './start-runtime.ts'
import { serveWithWorkers } from './workers/supervisor.ts'
import { workerCount, workersProblem } from './workers/worker-count.ts'

/** Loads the settings and serves, with one process or with several, until a signal stops the gateway. */
export async function serveGateway(
  flags: ServeInput['flags'],
  drainMs: number,
  context: CliContext,
): Promise<void> {
  ignoreUserSignals()
  const load = () => loadAllSettings({ flags, ...context })
  const loaded = load()
  assertServable(loaded, flags, context)
  const workers = workerCount(loaded.settings)
  const output = createServeOutput(context, flags.json === true)
  try {
    const input = { loaded, load, flags, drainMs, output }
    await (workers === 1 ? serveSingle(input) : serveWithWorkers(workers, input))
  } finally {
    await output.flush()
  }
}

/**
 * Throws if the number of workers, the TLS files, the data folder or the first key cannot be used: later errors would not
 * name the setting, file or folder, and would leave a new database behind.
 */
function assertServable(
  { settings, file, dataFolder }: LoadedSettings,
  flags: ServeInput['flags'],
  { environment }: CliContext,
): void {
  const { tls, database } = settings
  const message = workersProblem(settings)
  const variable = environment.WEIR_WORKERS ? 'WEIR_WORKERS' : 'workers'
  const path = flags.workers ? '--workers' : variable
  const problems = [...(message ? [{ path, message }] : []), ...(tls ? tlsProblems(tls) : [])]
  if (problems.length > 0) {
    const all = [...problems, ...configurationProblems(settings, environment)]
    throw new SettingsError(locateProblems(all, file), file)
  }
  if (environment.WEIR_BOOTSTRAP_KEY) parseBootstrapKey(environment.WEIR_BOOTSTRAP_KEY)
  if (database !== undefined) return
  const problem = dataFolderProblem(dataFolder, [databaseName, lockName])
  if (problem !== undefined)
    throw new CommandError(
      `The data folder ${dataFolder} cannot be used: ${problem} Choose another folder with --data.`,
    )
}

/** Serves with this process alone, until a signal stops it. */
async function serveSingle(input: ServeInput): Promise<void> {
  const { loaded, flags, drainMs, output } = input
  const { context } = output
  const requestLines = createRequestLines(output, flags.json === true)
  const log = logTo(context, flags.json, requestLines.notes)
  logWarnings(loaded.warnings, log)
  using stopSignals = listenForStopSignals(context)
  const reloadSignals = listenForReloadSignals()
  const { promise: starting, resolve: started } = Promise.withResolvers<Runtime>()
  // Listen first: a start that cannot listen must not create or change a database.
  const server = listen(fetchWhenStarted(starting), loaded.settings, log)
  try {
    const start = (stopping: AbortSignal) => startRuntime(loaded, context, log, requestLines, { stopping })
    const runtime = await unlessStopped(start, stopSignals, log)
    if (runtime === undefined) return
    try {
      runtime.attachServer(server)
      started(runtime)
      const { firstKeys, configuration } = runtime
      context.out(startupText({ facts: bannerFacts(configuration()), firstKeys, url: server.url }, input))
      reloadOnSignal(reloadSignals, runtime, input, log)
      await stopSignals.first
      logShutdown(drainMs, log)
      await shutDown(runtime, server, drainMs, stopSignals.second, log)
    } finally {
      await runtime.stop()
    }
  } finally {
    await server.stop(true)
  }
}
