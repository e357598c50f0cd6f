import { isIP } from 'node:net'
import type { Settings } from '../../config/settings.ts'
import { toApiError } from '../../http/errors.ts'
import { causeOf, type Log } from '../../lib/log.ts'
import { errorCode, platformFailure } from '../../lib/platform-failure.ts'
import type { Runtime } from '../../server/runtime.ts'
import { CommandError } from '../errors.ts'
import { RequestTurns } from './request-turns.ts'

/** The longest time that a connection may stay open without a request, or with a reply that is not read. */
const idleTimeoutSeconds = 60

/** The HTTP server. */
export type Server = ReturnType<typeof listen>

/**
 * Serves the runtime at the address of the settings; throws `CommandError` if it cannot listen there. With `shared`, other
 * processes of this user may listen there too, and each connection goes to one of them.
 */
export function listen(
  runtime: Pick<Runtime, 'fetch'>,
  settings: Pick<Settings, 'host' | 'port' | 'tls'>,
  log: Log,
  shared = false,
) {
  const { host, port, tls } = settings
  const turns = new RequestTurns()
  try {
    return Bun.serve({
      hostname: host,
      port,
      // Without `development`, Bun would let another process of this user listen on the same port.
      reusePort: shared,
      async fetch(request, server) {
        // A model may reason for minutes; event streams send comments, and bodies and upstream requests have timeouts.
        server.timeout(request, 0)
        const turn = turns.enter()
        if (turn) await turn
        const reply = await runtime.fetch(withRoutableUrl(request))
        // The timeout belongs to the connection: at 0, an idle keep-alive connection would never be closed.
        server.timeout(request, idleTimeoutSeconds)
        return reply
      },
      error: (cause) => unhandledErrorResponse(cause, log),
      // The error page of Bun would show source code to a caller.
      development: false,
      idleTimeout: idleTimeoutSeconds,
      // The documented limit is enforced with an API error where bodies are read.
      maxRequestBodySize: Number.MAX_SAFE_INTEGER,
      ...(tls && { tls: { cert: Bun.file(tls.cert), key: Bun.file(tls.key) } }),
    })
  } catch (error) {
    throw new CommandError(listenErrorMessage(host, port, error))
  }
}

/** The index in a URL from which Elysia looks for the path: behind `https://` and the first characters of the host. */
const pathSearchStart = 11

/** Replaces the host of a URL if it is missing, as in HTTP/1.0, or so short that its path would not be found. */
function withRoutableUrl(request: Request): Request {
  const { url } = request
  const pathStart = url.startsWith('/') ? 0 : url.indexOf('/', 'https://'.length)
  if (pathStart >= pathSearchStart || pathStart < 0) return request
  return new Request(`http://localhost${url.slice(pathStart)}`, request)
}

/** Handles an error that the application did not: one of the API keeps its status, any other is a 500. */
function unhandledErrorResponse(cause: unknown, log: Log): Response {
  log.error('A request failed with an unexpected error.', { cause: causeOf(cause) })
  const error = toApiError(cause)
  const headers = { ...error.headers, 'x-content-type-options': 'nosniff' }
  return Response.json(error.toBody(), { status: error.status, headers })
}

/** Describes why the server cannot listen, and what to do. */
function listenErrorMessage(host: string, port: number, error: unknown): string {
  return cannotListen(host, port, knownReason(host, port, error) ?? unknownReason(error))
}

function cannotListen(host: string, port: number, reason: string): string {
  return `Cannot listen on ${host.includes(':') ? `[${host}]` : host}:${port}: ${reason}`
}

/** Returns why this machine cannot listen on the host, or undefined if it can. Binds a free port to find out. */
export function hostProblem(host: string): string | undefined {
  try {
    void Bun.serve({ hostname: host, port: 0, reusePort: false, fetch: () => new Response() }).stop(true)
    return undefined
  } catch (error) {
    return knownReason(host, 0, error) ?? unknownReason(error)
  }
}

function knownReason(host: string, port: number, error: unknown): string | undefined {
  const code = errorCode(error)
  if (code === 'EADDRINUSE') return portInUse(port)
  if (code === 'EACCES') return `permission denied for port ${port}. Choose a port above 1023 with --port.`
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND') {
    const reason = isIP(host) > 0 ? 'is not an address of this machine' : 'is not a name of this machine'
    return `${host} ${reason}. Choose another host with --host, such as 127.0.0.1, or 0.0.0.0 for every interface.`
  }
  return undefined
}

function portInUse(port: number): string {
  return `port ${port} is already in use, perhaps by another weir server. Stop that program, or choose another port with --port.`
}

function unknownReason(error: unknown): string {
  const message = platformFailure(error) ?? (error instanceof Error ? error.message : String(error))
  return `${message.replace(/\.$/, '')}. Choose another address with --host or --port.`
}

/** The address that the workers share. */
export type ClaimedPort = {
  readonly port: number
  /** For users, without a path. */
  readonly url: URL
  release(): void
}

/**
 * Claims the address for the workers of this supervisor; throws `CommandError` if another program uses it. Workers share
 * the port with any process of the same user that asks for it, so two servers must be kept apart before: neither of them
 * passes the first check while the other one listens, nor the second one while the other one is starting.
 */
export async function claimPort(settings: Settings, log: Log): Promise<ClaimedPort> {
  const { port, url } = await findFreePort(settings, log)
  const lock = lockAddress(settings.host, port)
  return { port, url, release: () => lock.stop(true) }
}

async function findFreePort(settings: Settings, log: Log): Promise<{ port: number; url: URL }> {
  const server = listen({ fetch: () => new Response(null, { status: 503 }) }, settings, log)
  const { url } = server
  await server.stop(true)
  return { port: Number(url.port) || defaultPortOf(url), url }
}

function defaultPortOf({ protocol }: URL): number {
  return protocol === 'https:' ? 443 : 80
}

/** Locks the address until the lock is released or the process ends, by a socket name that is in no file system. */
function lockAddress(host: string, port: number) {
  try {
    return Bun.listen({
      unix: `\0weir/${host}/${port}`,
      socket: { open: (socket) => void socket.end(), data() {} },
    })
  } catch {
    throw new CommandError(cannotListen(host, port, portInUse(port)))
  }
}
