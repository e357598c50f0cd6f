import { createHash, timingSafeEqual } from 'node:crypto'
import { metricsForbidden } from '../../lib/errors/errors.ts'

/** The metrics, for those who may see them. */
export type MetricsPage = {
  /** The server that takes the requests: it knows who asks. */
  servedBy(peers: Peers): void
  /** Throws the 403. */
  show(request: Request): string
}

/** Knows the other end of the connection that a request came by. */
export type Peers = { requestIP(request: Request): { readonly address: string } | null }

/**
 * Programs of this machine may see them, and whoever has the key of the operator. A proxy on this machine asks for others,
 * and a browser for the pages that it shows: what they ask is not the machine's own. A page whose name was made to lead
 * to this machine asks for that name: only a name of this machine, or the configured `host`, counts.
 */
export function createMetricsPage(
  metrics: { render(): string },
  adminKey: string | undefined,
  host: () => string = () => '',
): MetricsPage {
  const wanted = adminKey ? digest(adminKey) : undefined
  let peers: Peers | undefined

  function operator({ headers }: Request): boolean {
    const given = /^bearer +(.*)$/i.exec(headers.get('authorization') ?? '')?.[1]?.trim()
    return wanted !== undefined && given !== undefined && timingSafeEqual(digest(given), wanted)
  }

  return {
    servedBy: (server) => void (peers = server),
    show(request) {
      const address = peers?.requestIP(request)?.address ?? ''
      const ownMachine = loopback.test(address) && !forOthers(request) && isOwnName(request, host())
      if (!ownMachine && !operator(request)) throw metricsForbidden()
      return metrics.render()
    },
  }
}

const loopback = /^(127\.|::ffff:127\.|::1$)/

function forOthers({ headers }: Request): boolean {
  return tellingHeaders.some((name) => headers.has(name))
}

const tellingHeaders = ['forwarded', 'via', 'x-forwarded-for', 'x-forwarded-host', 'x-real-ip', 'origin']

/** Whether the host that was asked for is this machine. Programs of HTTP/1.0 name none, browsers always do. */
function isOwnName({ headers }: Request, configured: string): boolean {
  const given = headers.get('host')?.trim()
  if (!given) return true
  const name = given.replace(/:\d*$/, '').toLowerCase()
  return ownName.test(name) || name === configured.toLowerCase() || name === `[${configured.toLowerCase()}]`
}

const ownName =
  /^(localhost\.?|127(\.\d{1,3}){3}|\[::1\]|\[::ffff:(127\.[\d.]+|7f[\da-f]{2}:[\da-f]{1,4})\])$/

/** Of one length for any text. */
function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
