import { type Command, commonFlagsHelp, subcommand } from '../command.ts'
import { interpretStart } from '../serve/jit-policy.ts'
import { raiseRequestLimit } from '../serve/request-limit.ts'
import { parseDrain } from '../serve/shutdown.ts'

const usage = `Usage
  weir [serve] [--host HOST] [--port PORT] [--workers N] [--no-page] [--drain 30s]

Runs the gateway until Ctrl-C or SIGTERM. The first start creates the data folder, an API key and
an admin key, which are printed only once. The first signal stops the gateway gracefully: it rejects
new requests and waits for open ones. A second signal stops it immediately. SIGHUP reloads the settings.
On a terminal, the log is readable text, with colors unless NO_COLOR is set or the terminal has
none; FORCE_COLOR overrides both. Elsewhere, and with --json, the log is JSON lines.

Flags
  --host HOST    the address to listen on, 0.0.0.0 for every interface; default: 127.0.0.1
  --port PORT    the port to listen on, 0 for any free port; default: 9347
  --workers N    how many processes serve the port together, 0 for one a core; more than one
                 requires PostgreSQL and Linux; default: 1
  --no-page      serve the API without the page for browsers
  --drain 30s    how long to wait for open requests when stopping, at most 24h; default: 30s

Examples
  weir
  weir serve --host 0.0.0.0 --port 8080
  WEIR_DATABASE=postgres://… weir serve --workers 0
  OPENAI_API_KEY=sk-… weir

${commonFlagsHelp}`

const ownFlags = { host: 'text', port: 'text', workers: 'text', drain: 'text', 'no-page': 'switch' } as const

/** `weir serve`. */
export const command: Command = {
  usage,
  run: subcommand('serve', { flags: ownFlags }, async ({ flags, context }) => {
    const drainMs = parseDrain(flags.drain)
    const exitCode = await raiseRequestLimit(context)
    if (exitCode !== undefined) return exitCode
    interpretStart()
    // Loaded only now, because the process that was just replaced would have loaded it for nothing.
    const { serveGateway } = await import('../serve/serve-gateway.ts')
    await serveGateway(flags, drainMs, context)
    return 0
  }),
}
