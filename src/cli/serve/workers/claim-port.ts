import type { Settings } from '../../../config/settings.ts'
import type { Log } from '../../../lib/log.ts'
import { CommandError } from '../../errors.ts'
import { addressInUse, listen } from '../listen.ts'

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
    throw new CommandError(addressInUse(host, port))
  }
}
