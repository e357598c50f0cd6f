import { dataFolderProblem } from '../../config/file-errors.ts'
import { type LoadedSettings, loadSettings } from '../../config/load.ts'
import { SettingsError } from '../../config/problem.ts'
import { tlsProblems } from '../../config/tls-files.ts'
import { databaseName } from '../../storage/sqlite/connection/database.ts'
import { lockName } from '../../storage/sqlite/connection/serving-lock.ts'
import { parseBootstrapKey } from '../../storage/common/bootstrap-key.ts'
import { commonFlagsHelp, parseFlags } from '../args.ts'
import type { Command } from '../command.ts'
import type { CliContext } from '../context.ts'
import { CommandError } from '../errors.ts'
import { createServeOutput } from '../serve/output.ts'
import { raiseRequestLimit } from '../serve/request-limit.ts'
import { serveAlone } from '../serve/serve-alone.ts'
import { parseDrain } from '../serve/shutdown.ts'
import { serveWithWorkers } from '../serve/workers/supervisor.ts'
import { workerCount } from '../serve/workers/worker-count.ts'

const usage = `Usage
  weir [serve] [--host HOST] [--port PORT] [--workers N] [--no-page] [--drain 30s]

Runs the gateway until Ctrl-C or SIGTERM. The first start creates the data folder and an API key,
which is printed only once. The first signal stops the gateway gracefully: it rejects new requests
and waits for open ones. A second signal stops it immediately. SIGHUP reloads the settings.
On a terminal, the log is readable text, with colors unless NO_COLOR is set or the terminal has
none; FORCE_COLOR overrides both. Elsewhere, and with --json, the log is JSON lines.

Flags
  --host HOST    the address to listen on, 0.0.0.0 for every interface; default: 127.0.0.1
  --port PORT    the port to listen on, 0 for any free port; default: 9347
  --workers N    how many processes serve the port together, 0 for one a core; more than one
                 requires Linux; default: 1
  --no-page      serve the API without the page for browsers
  --drain 30s    how long to wait for open requests when stopping, at most 24h; default: 30s

Examples
  weir
  weir serve --host 0.0.0.0 --port 8080
  weir serve --workers 0
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
      flags: { host: 'text', port: 'text', workers: 'text', drain: 'text', 'no-page': 'switch' },
    })
    const drainMs = parseDrain(flags.drain)
    const load = () => loadSettings({ flags, ...context })
    const loaded = load()
    const workers = workerCount(loaded.settings.workers)
    const exitCode = await raiseRequestLimit(context)
    if (exitCode !== undefined) return exitCode
    assertServable(loaded, context)
    const output = createServeOutput(context, flags.json === true)
    try {
      const input = { loaded, load, flags, drainMs, output }
      await (workers === 1 ? serveAlone(input) : serveWithWorkers(workers, input))
    } finally {
      await output.flush()
    }
    return 0
  },
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
