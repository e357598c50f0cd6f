import { lookup, Resolver } from 'node:dns/promises'
import { BlockList, isIP } from 'node:net'
import { withAbort } from './abort.ts'

/** Overrides of the network with which a test reaches its own server. */
export type NetworkOverrides = {
  /** Whether an address may be reached. */
  readonly allow?: (address: string) => boolean
  /** All addresses of a host. */
  readonly resolve?: (host: string) => Promise<readonly string[]>
  /** The name servers that are asked for public hosts, each with its port. */
  readonly nameServers?: readonly string[]
  /** The certificate to trust. */
  readonly ca?: string
  /** The timeout for all images of a request. */
  readonly timeoutMs?: number
}

/** A request to a URL. */
type PinnedRequest = {
  readonly method?: 'GET' | 'POST'
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
  /** The host as messages name it: `image host`. */
  readonly host: string
  /** Whether http:// and addresses that are not public are allowed. */
  readonly allowPrivate?: boolean
}

/**
 * Sends a request to an https URL at an address that was checked to be public. The connection goes to that very
 * address, so that a name that resolves to another one a moment later has no effect (DNS rebinding).
 * Redirects are not followed.
 */
export async function pinnedFetch(
  url: URL,
  request: PinnedRequest,
  signal: AbortSignal,
  network: NetworkOverrides = {},
): Promise<Response> {
  if (url.protocol !== 'https:' && !(request.allowPrivate && url.protocol === 'http:'))
    throw new RejectedUrl('the URL must begin with https://')
  if (url.username !== '' || url.password !== '')
    throw new RejectedUrl('the URL must not contain a user name or password')
  const host = url.hostname.replace(/^\[|\]$/g, '')
  const addresses = await withAbort(allowedAddresses(host, request, network), signal)
  let cause: unknown
  for (const address of addresses.slice(0, maxAddresses)) {
    try {
      return await fetchFrom(address, host, url, request, signal, network)
    } catch (error) {
      if (signal.aborted) throw signal.reason
      cause = error
    }
  }
  throw new RejectedUrl(`the ${request.host} could not be reached`, { cause })
}

/** A host with addresses of both versions may be reachable by one of them only. */
const maxAddresses = 3

/** All addresses must be public, or an attacker could wait until the others are tried. */
async function allowedAddresses(
  host: string,
  { host: subject, allowPrivate = false }: PinnedRequest,
  { allow = isPublicAddress, nameServers, ...overrides }: NetworkOverrides,
): Promise<readonly string[]> {
  const { resolve = allowPrivate ? resolveHost : (host: string) => resolvePublic(host, nameServers) } =
    overrides
  const addresses = isIP(host) > 0 ? [host] : await resolve(host).catch(() => [])
  if (addresses.length > 0 && (allowPrivate || addresses.every(allow))) return addresses
  // The same message for an unknown name: internal names must not leak.
  throw new RejectedUrl(`the ${subject} is not on the public internet`)
}

/** For each attempt to ask a name server. */
const queryTimeoutMs = 3000
const queryAttempts = 2

/**
 * Asks the name servers, and not the operating system: it resolves names in the few threads that resolve the hosts of
 * providers, too, and a name server that does not reply would keep them busy for as long as its owner wants.
 */
async function resolvePublic(host: string, servers?: readonly string[]): Promise<readonly string[]> {
  // Each one reads the present settings of the machine.
  const resolver = new Resolver({ timeout: queryTimeoutMs, tries: queryAttempts })
  if (servers) resolver.setServers(servers)
  const answers = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)])
  return answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []))
}

/** Also finds the names of the local network and of this machine. */
async function resolveHost(host: string): Promise<readonly string[]> {
  const records = await lookup(host, { all: true })
  return records.map(({ address }) => address)
}

function fetchFrom(
  address: string,
  host: string,
  url: URL,
  { method = 'GET', headers, body }: PinnedRequest,
  signal: AbortSignal,
  { ca }: NetworkOverrides,
): Promise<Response> {
  const target = new URL(url)
  target.hostname = isIP(address) === 6 ? `[${address}]` : address
  // The certificate has to match the name, so the connection gets the name separately.
  const serverName = isIP(host) > 0 ? {} : { serverName: host }
  return fetch(target, {
    method,
    headers: { ...headers, host: url.host, 'accept-encoding': 'identity', 'user-agent': 'weir' },
    ...(body !== undefined && { body }),
    redirect: 'manual',
    // Bun decompresses in the thread of all requests to providers: a small reply could stop them for seconds.
    decompress: false,
    signal,
    tls: { ...serverName, ...(ca === undefined ? {} : { ca }) },
    // A connection for another name must not be reused for this one.
    keepalive: false,
  })
}

/** A URL that cannot be used. The message is the reason, without a full stop. */
export class RejectedUrl extends Error {}

/** Whether an IP address is on the public internet, and not on this machine, its networks or its cloud. */
export function isPublicAddress(address: string): boolean {
  const version = isIP(address)
  if (version === 4) return !reserved.check(address, 'ipv4')
  return version === 6 && global.check(address, 'ipv6') && !reserved.check(address, 'ipv6')
}

// IANA's registries of special-purpose addresses.
const reservedRanges: readonly (readonly [string, number])[] = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
  // The Azure host of every virtual machine, though it looks public.
  ['168.63.129.16', 32],
  // Teredo, 6to4 and the documentation range; the first two can embed an IPv4 address.
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
]

const reserved = new BlockList()
for (const [network, bits] of reservedRanges)
  reserved.addSubnet(network, bits, network.includes(':') ? 'ipv6' : 'ipv4')

/** The loopback, mapped, translated, local, link-local and multicast addresses are outside of it. */
const global = new BlockList()
global.addSubnet('2000::', 3, 'ipv6')
