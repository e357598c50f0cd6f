import type { AddressOf } from '../../http/actor.ts'
import type { AdminAccess, AdminCaller } from '../../http/admin-access.ts'
import { metricsForbidden } from '../../lib/errors/http-errors.ts'

/** The metrics page, with its access check. */
export type MetricsPage = {
  /** Renders the metrics; fails with 403 for a client without access, and with 401 for an admin key that is not valid. */
  render(request: Request): string | Promise<string>
}

/**
 * Creates the page. Programs on this machine may read it, and clients with an admin key. A request that a proxy on this
 * machine forwards, or that a browser sends for a page, does not count as local. Against DNS rebinding, the `Host` of a
 * local request must be a name of this machine, or the configured `host`.
 */
export function createMetricsPage(
  metrics: { render(): string | Promise<string> },
  adminAccess: Pick<AdminAccess, 'accepts'>,
  addressOf: AddressOf,
  host: () => string = () => '',
): MetricsPage {
  const renderFor = (access: true | AdminCaller | undefined) => {
    if (access === undefined) throw metricsForbidden()
    return metrics.render()
  }

  return {
    render(request) {
      const address = addressOf(request) ?? ''
      const isLocal = loopback.test(address) && !isForwarded(request) && hasLocalHost(request, host())
      const access = isLocal || adminAccess.accepts(request.headers)
      return access instanceof Promise ? access.then(renderFor) : renderFor(access)
    },
  }
}

const loopback = /^(127\.|::ffff:127\.|::1$)/

function isForwarded({ headers }: Request): boolean {
  return forwardingHeaders.some((name) => headers.has(name))
}

/** The headers that a proxy or a browser adds. */
const forwardingHeaders = ['forwarded', 'via', 'x-forwarded-for', 'x-forwarded-host', 'x-real-ip', 'origin']

/** Whether the `Host` of the request is this machine. HTTP/1.0 clients may send none, browsers always send one. */
function hasLocalHost({ headers }: Request, configured: string): boolean {
  const header = headers.get('host')?.trim()
  if (!header) return true
  const name = header.replace(/:\d*$/, '').toLowerCase()
  return localName.test(name) || name === configured.toLowerCase() || name === `[${configured.toLowerCase()}]`
}

const localName =
  /^(localhost\.?|127(\.\d{1,3}){3}|\[::1\]|\[::ffff:(127\.[\d.]+|7f[\da-f]{2}:[\da-f]{1,4})\])$/
