import { join } from 'node:path'
import { dataFolderProblem } from '../../config/file-errors.ts'
import { defaultSettings } from '../../config/defaults.ts'
import { type LoadedSettings, loadSettings } from '../../config/load.ts'
import type { SettingsFlags } from '../../config/paths.ts'
import { SettingsError } from '../../config/problem.ts'
import { tlsProblems } from '../../config/tls-files.ts'
import type { Log } from '../../lib/log.ts'
import { Secret } from '../../lib/secret.ts'
import { createFailureNotes } from '../../observability/request-log/failure-notes.ts'
import type { LogOutput } from '../../observability/request-log/request-log.ts'
import { createRuntime, type Runtime } from '../../server/runtime.ts'
import { databaseLabel } from '../../storage/postgres/connection/database-url.ts'
import { databaseName } from '../../storage/sqlite/connection/database.ts'
import { lockName } from '../../storage/sqlite/connection/serving-lock.ts'
import { parseBootstrapKey } from '../../storage/common/bootstrap-key.ts'
import { commonFlagsHelp, parseFlags } from '../args.ts'
import { banner } from '../serve/banner.ts'
import type { Command } from '../command.ts'
import type { CliContext } from '../context.ts'
import { CommandError } from '../errors.ts'
import { logTo, logWarnings } from '../log.ts'
import { commandPrefix, locationFlags } from '../invocation.ts'
import { createServeOutput, type ServeOutput } from '../serve/output.ts'
import { reloadOnSignal } from '../serve/reload.ts'
import { raiseRequestLimit } from '../serve/request-limit.ts'
import { listen, type Server } from '../serve/listen.ts'
import { parseDrain, listenForStopSignals, shutDown } from '../serve/shutdown.ts'

const usage = `Usage
  weir [serve] [--host HOST] [--port PORT] [--no-page] [--drain 30s]

Runs the gateway until Ctrl-C or SIGTERM. The first start creates the data folder and an API key,
which is printed only once. The first signal stops the gateway gracefully: it rejects new requests
and waits for open ones. A second signal stops it immediately. SIGHUP reloads the settings.
On a terminal, the log is readable text, with colors unless NO_COLOR is set or the terminal has
none; FORCE_COLOR overrides both. Elsewhere, and with --json, the log is JSON lines.

Flags
  --host HOST    the address to listen on, 0.0.0.0 for every interface; default: 127.0.0.1
  --port PORT    the port to listen on, 0 for any free port; default: 9347
  --no-page      serve the API without the page for browsers
  --drain 30s    how long to wait for open requests when stopping, at most 24h; default: 30s

Examples
  weir
  weir serve --host 0.0.0.0 --port 8080
  OPENAI_API_KEY=sk-… weir

${commonFlagsHelp}`

/** `weir serve`. */
export const serve: Command = {
  name: 'serve',
  summary: 'start the gateway; the default command',
  usage,
  async run(args, context) {
    const { flags } = parseFlags(args, {
      command: 'serve',
      flags: { host: 'text', port: 'text', drain: 'text', 'no-page': 'switch' },
    })
    const drainMs = parseDrain(flags.drain)
    const load = () => loadSettings({ flags, ...context })
    const loaded = load()
    const exitCode = await raiseRequestLimit(context)
    if (exitCode !== undefined) return exitCode
    assertServable(loaded, context)
    const output = createServeOutput(context, flags.json === true)
    try {
      await serveUntilStopped({ loaded, load, flags, drainMs, output })
    } finally {
      await output.flush()
    }
    return 0
  },
}

type ServeInput = {
  readonly loaded: LoadedSettings
  readonly load: () => LoadedSettings
  readonly flags: SettingsFlags & { readonly json?: boolean | undefined }
  readonly drainMs: number
  readonly output: ServeOutput
}

async function serveUntilStopped({ loaded, load, flags, drainMs, output }: ServeInput): Promise<void> {
  const { context } = output
  const requestLines = createRequestLines(output, flags.json === true)
  const log = logTo(context, flags.json, requestLines.notes)
  logWarnings(loaded.warnings, log)
  const stopSignals = listenForStopSignals(context)
  const { promise: starting, resolve: started } = Promise.withResolvers<Runtime>()
  // Listen first: a start that cannot listen must not create or change a database.
  const server = listen(fetchWhenStarted(starting), loaded.settings, log)
  try {
    const runtime = await start(loaded, context, log, requestLines)
    requestLines.setRuntime(runtime)
    try {
      runtime.attachServer(server)
      started(runtime)
      context.out(bannerText(runtime, displayUrl(server), loaded, flags, context))
      reloadOnSignal(runtime, load, context.environment, log)
      await stopSignals.first
      await shutDown(runtime, server, drainMs, stopSignals.second, log)
    } finally {
      await runtime.stop()
    }
  } finally {
    await server.stop(true)
  }
}

type RequestLines = LogOutput & { setRuntime(started: Runtime): void }

/** Returns the output of the request log. If it shares a terminal with the log, a failure is reported once. */
function createRequestLines({ context, requests }: ServeOutput, json: boolean): RequestLines {
  const { terminal, errTerminal } = context
  let runtime: Runtime | undefined
  const setRuntime = (started: Runtime) => void (runtime = started)
  if (terminal === undefined || json) return { sink: requests, readable: false, setRuntime }
  const requestsAreLogged = () => runtime?.configuration().settings.log !== 'off'
  const notes = errTerminal && createFailureNotes(requestsAreLogged)
  return { sink: requests, readable: true, color: terminal.color, ...(notes && { notes }), setRuntime }
}

/**
 * Throws if the TLS files, the data folder or the first key cannot be used: later errors would not name the file or
 * folder, and would leave a new database behind.
 */
function assertServable(
  { settings: { tls, database }, file, dataFolder }: LoadedSettings,
  { environment }: CliContext,
): void {
  const problems = tls ? tlsProblems(tls) : []
  if (problems.length > 0) throw new SettingsError(problems, file)
  if (environment.WEIR_BOOTSTRAP_KEY) parseBootstrapKey(environment.WEIR_BOOTSTRAP_KEY)
  if (database !== undefined) return
  const problem = dataFolderProblem(dataFolder, [databaseName, lockName])
  if (problem !== undefined)
    throw new CommandError(
      `The data folder ${dataFolder} cannot be used: ${problem} Choose another folder with --data.`,
    )
}

/** The address without any settings. */
const defaultUrl = `http://${defaultSettings.host}:${defaultSettings.port}`

function bannerText(
  runtime: Runtime,
  url: string,
  loaded: LoadedSettings,
  flags: SettingsFlags,
  context: CliContext,
): string {
  const location = locationFlags(loaded, flags, context)
  const prefix = commandPrefix(context)
  const commands = {
    models: `${prefix} models${location.config}`,
    createKey: `${prefix} keys create${location.data}`,
    connect: `${prefix} connect${url === defaultUrl ? '' : ` --url ${url}`}`,
  }
  const { database } = loaded.settings
  const data = database === undefined ? loaded.dataFolder : databaseLabel(new Secret(database))
  const text = banner({ runtime, url, data, commands })
  // A line between the banner and the requests.
  return context.terminal === undefined ? text : `${text}\n`
}

/** Requests that arrive while the database is being opened wait for it. */
function fetchWhenStarted(starting: Promise<Runtime>): Pick<Runtime, 'fetch'> {
  let runtime: Runtime | undefined
  void starting.then((started) => (runtime = started))
  return {
    fetch: (request) =>
      runtime ? runtime.fetch(request) : starting.then((started) => started.fetch(request)),
  }
}

function start(
  { settings, file, dataFolder }: LoadedSettings,
  { environment }: CliContext,
  log: Log,
  requestLines: LogOutput,
): Promise<Runtime> {
  return createRuntime({
    settings,
    file,
    environment,
    database:
      settings.database === undefined ? join(dataFolder, databaseName) : new Secret(settings.database),
    log,
    requestLines,
  })
}

function displayUrl(server: Server): string {
  const { protocol, port, hostname = '' } = server.url
  const host = hostname === '0.0.0.0' || hostname === '[::]' ? 'localhost' : hostname
  return `${protocol}//${host}:${port}`
}
