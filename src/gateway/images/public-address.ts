import { BlockList, isIP } from 'node:net'

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
