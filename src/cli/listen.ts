import type { Settings } from '../config/settings.ts'
import { internalError } from '../lib/errors/errors.ts'
import { causeOf, type Log } from '../lib/log.ts'
import type { Runtime } from '../server/runtime.ts'
import { CommandError } from './args.ts'
import { listenFailure } from './listen-error.ts'

/** Seconds for which a connection may be open without a request, or without taking anything of a reply. */
const silentConnection = 60

export type Server = ReturnType<typeof listen>

/** Serves the runtime at the address of the settings; throws a sentence where that is not to be had. */
export function listen(
  runtime: Pick<Runtime, 'fetch'>,
  settings: Pick<Settings, 'host' | 'port' | 'tls'>,
  log: Log,
) {
  const { host, port, tls } = settings
  try {
    return Bun.serve({
      hostname: host,
      port,
      // Where `development` is off, Bun would let another process of this user listen on the port, too.
      reusePort: false,
      async fetch(request, server) {
        // A model may think for minutes; event streams send comments, and bodies and upstream calls have deadlines.
        server.timeout(request, 0)
        const reply = await runtime.fetch(withHost(request))
        // It holds for the connection: left at 0, one whose client says nothing more would stay for ever.
        server.timeout(request, silentConnection)
        return reply
      },
      error: (cause) => lastResort(cause, log),
      // Its page for errors would show the program to a caller.
      development: false,
      idleTimeout: silentConnection,
      // The bound that callers are told is checked, with an error that says so, where bodies are read.
      maxRequestBodySize: Number.MAX_SAFE_INTEGER,
      ...(tls && { tls: { cert: Bun.file(tls.cert), key: Bun.file(tls.key) } }),
    })
  } catch (error) {
    throw new CommandError(listenFailure(host, port, error))
  }
}

/** A request of HTTP/1.0 need not name the host, and then has only the path for its URL. */
function withHost(request: Request): Request {
  return request.url.startsWith('/') ? new Request(`http://localhost${request.url}`, request) : request
}

/** For what is thrown where no request is known any more. */
function lastResort(cause: Error, log: Log): Response {
  log.error('A request failed outside of the interface.', { cause: causeOf(cause) })
  return Response.json(internalError(cause).toBody(), { status: 500 })
}
