import { isIP } from 'node:net'
import type { Settings } from '../../config/settings.ts'
import { internalError } from '../../lib/errors/errors.ts'
import { causeOf, type Log } from '../../lib/log.ts'
import type { Runtime } from '../../server/runtime.ts'
import { CommandError } from '../errors.ts'

/** Seconds for which a connection may be open without a request, or without taking anything of a reply. */
const idleTimeoutSeconds = 60

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
        const reply = await runtime.fetch(withAbsoluteUrl(request))
        // It holds for the connection: left at 0, one whose client says nothing more would stay for ever.
        server.timeout(request, idleTimeoutSeconds)
        return reply
      },
      error: (cause) => internalErrorResponse(cause, log),
      // Its page for errors would show the program to a caller.
      development: false,
      idleTimeout: idleTimeoutSeconds,
      // The bound that callers are told is checked, with an error that says so, where bodies are read.
      maxRequestBodySize: Number.MAX_SAFE_INTEGER,
      ...(tls && { tls: { cert: Bun.file(tls.cert), key: Bun.file(tls.key) } }),
    })
  } catch (error) {
    throw new CommandError(listenErrorMessage(host, port, error))
  }
}

/** A request of HTTP/1.0 need not name the host, and then has only the path for its URL. */
function withAbsoluteUrl(request: Request): Request {
  return request.url.startsWith('/') ? new Request(`http://localhost${request.url}`, request) : request
}

/** For what is thrown where no request is known any more. */
function internalErrorResponse(cause: Error, log: Log): Response {
  log.error('A request failed outside of the interface.', { cause: causeOf(cause) })
  return Response.json(internalError(cause).toBody(), { status: 500 })
}

/** Why there is no server at the address, in a sentence that says what to do. */
export function listenErrorMessage(host: string, port: number, error: unknown): string {
  const address = `${host.includes(':') ? `[${host}]` : host}:${port}`
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  return `Cannot listen on ${address}: ${knownReason(host, port, code) ?? unknownReason(error)}`
}

/** Why this machine cannot listen on the host, without its subject; undefined where it can. Binds a free port of it. */
export function hostProblem(host: string): string | undefined {
  try {
    void Bun.serve({ hostname: host, port: 0, reusePort: false, fetch: () => new Response() }).stop(true)
    return undefined
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    return knownReason(host, 0, code) ?? unknownReason(error)
  }
}

function knownReason(host: string, port: number, code: unknown): string | undefined {
  if (code === 'EADDRINUSE')
    return `port ${port} is in use, perhaps by another weir. Stop that program, or choose another port with --port.`
  if (code === 'EACCES')
    return `this user may not listen on port ${port}. Choose a port above 1023 with --port.`
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND') {
    const claim = isIP(host) > 0 ? 'is not an address of this machine' : 'is not a name of this machine'
    return `${host} ${claim}. Choose another host with --host, such as 127.0.0.1, or 0.0.0.0 for every interface.`
  }
  return undefined
}

function unknownReason(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error)
  return `${message.replace(/\.$/, '')}. Choose another address with --host or --port.`
}
