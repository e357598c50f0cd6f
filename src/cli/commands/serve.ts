import { join } from 'node:path'
import { dataFolderProblem } from '../../config/file-errors.ts'
import { type LoadedSettings, loadSettings } from '../../config/load.ts'
import type { SettingsFlags } from '../../config/paths.ts'
import { SettingsError } from '../../config/problem.ts'
import { tlsProblems } from '../../config/tls-files.ts'
import type { Log } from '../../lib/log.ts'
import { createFailureNotes } from '../../observability/request-log/failure-notes.ts'
import type { LogOutput } from '../../observability/request-log/request-log.ts'
import { createRuntime, type Runtime } from '../../server/runtime.ts'
import { databaseName } from '../../storage/sqlite/connection/database.ts'
import { lockName } from '../../storage/sqlite/connection/serving-lock.ts'
import { commonFlagsHelp, parseFlags } from '../args.ts'
import { banner } from '../serve/banner.ts'
import type { Command } from '../command.ts'
import type { CliContext } from '../context.ts'
import { CommandError } from '../errors.ts'
import { logTo, logWarnings } from '../log.ts'
import { commandPrefix, locationFlags } from '../invocation.ts'
import { reloadOnSignal } from '../serve/reload.ts'
import { raiseRequestLimit } from '../serve/request-limit.ts'
import { listen, type Server } from '../serve/listen.ts'
import { parseDrain, listenForStopSignals, shutDown } from '../serve/shutdown.ts'

const usage = `Usage
  weir [serve] [--host HOST] [--port PORT] [--drain 30s]

Serves the gateway until it is told to stop (Ctrl-C, SIGTERM). The first start makes the data
folder and prints an API key, once. A gateway that is told to stop takes no new calls and lets
the open ones end; told again, it ends at once. SIGHUP reads the settings anew. On a terminal the
lines of requests and of the log are for people, in colour unless NO_COLOR is set or the terminal
is a dumb one (FORCE_COLOR sets it anyway); elsewhere, and with --json, they are JSON.

Flags
  --host HOST    the address to listen on; 127.0.0.1 unless set, 0.0.0.0 for every interface
  --port PORT    the port to listen on; 9347 unless set, 0 for any that is free
  --drain 30s    how long open calls may go on after it was told to stop; 30s unless set

Examples
  weir
  weir serve --host 0.0.0.0 --port 8080
  OPENAI_API_KEY=sk-… weir

${commonFlagsHelp}`

/** `weir serve`. */
export const serve: Command = {
  name: 'serve',
  summary: 'serve the gateway; what weir does without a command',
  usage,
  async run(args, context) {
    const { flags } = parseFlags(args, {
      command: 'serve',
      flags: { host: 'text', port: 'text', drain: 'text' },
    })
    const drain = parseDrain(flags.drain)
    const load = () => loadSettings({ flags, ...context })
    const loaded = load()
    const exitCode = await raiseRequestLimit(context)
    if (exitCode !== undefined) return exitCode
    expectServable(loaded)
    const lines = requestLines(context, flags.json === true)
    const log = logTo(context, flags.json, lines.notes)
    logWarnings(loaded.warnings, log)
    const words = listenForStopSignals(context)
    const { promise: starting, resolve: started } = Promise.withResolvers<Runtime>()
    // First of all: a start that has no address must not make or change a database.
    const server = listen(waitingFor(starting), loaded.settings, log)
    try {
      const runtime = await start(loaded, context, log, lines)
      lines.follow(runtime)
      try {
        runtime.attachServer(server)
        started(runtime)
        context.out(bannerText(runtime, addressOf(server), loaded, flags, context))
        reloadOnSignal(runtime, load, context.environment, log)
        await words.first
        await shutDown(runtime, server, drain, words.second, log)
      } finally {
        await runtime.stop()
      }
    } finally {
      await server.stop(true)
    }
    return 0
  },
}

type RequestLines = LogOutput & { follow(started: Runtime): void }

/** Where requests have their lines. Where a person reads these and the log on one screen, a failure is in one of them. */
function requestLines({ terminal, errTerminal }: CliContext, json: boolean): RequestLines {
  let runtime: Runtime | undefined
  const follow = (started: Runtime) => void (runtime = started)
  if (terminal === undefined || json) return { sink: process.stdout, readable: false, follow }
  const areLogged = () => runtime?.configuration().settings.log !== 'off'
  const notes = errTerminal && createFailureNotes(areLogged)
  return { sink: process.stdout, readable: true, color: terminal.color, ...(notes && { notes }), follow }
}

/** Before anything is opened: the error of what would fail later may not name the file or folder. */
function expectServable({ settings: { tls }, file, dataFolder }: LoadedSettings): void {
  const problems = tls ? tlsProblems(tls) : []
  if (problems.length > 0) throw new SettingsError(problems, file)
  const fault = dataFolderProblem(dataFolder, [databaseName, lockName])
  if (fault !== undefined)
    throw new CommandError(
      `The data folder ${dataFolder} cannot be used: ${fault} Choose another with --data.`,
    )
}

function bannerText(
  runtime: Runtime,
  url: string,
  loaded: LoadedSettings,
  flags: SettingsFlags,
  context: CliContext,
): string {
  const place = locationFlags(loaded, flags, context)
  const name = commandPrefix(context)
  const commands = {
    models: `${name} models${place.config}`,
    createKey: `${name} keys create${place.data}`,
  }
  return banner({ runtime, url, dataFolder: loaded.dataFolder, commands })
}

/** Requests that come while the database is opened wait for it. */
function waitingFor(starting: Promise<Runtime>): Pick<Runtime, 'fetch'> {
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
    database: join(dataFolder, databaseName),
    log,
    requestLines,
  })
}

function addressOf(server: Server): string {
  const { protocol, port, hostname = '' } = server.url
  const host = hostname === '0.0.0.0' || hostname === '[::]' ? 'localhost' : hostname
  return `${protocol}//${host}:${port}`
}
