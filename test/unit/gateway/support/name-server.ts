import { createSocket } from 'node:dgram'

/** A name server on loopback. */
export type NameServer = {
  /** With its port. */
  readonly address: string
  /** The names that it was asked for. */
  readonly names: ReadonlySet<string>
  [Symbol.dispose](): void
}

/** Starts a name server that knows one IPv4 address for each of these names, and does not reply to queries for others. */
export async function startNameServer(addresses: Readonly<Record<string, string>>): Promise<NameServer> {
  const socket = createSocket('udp4')
  const names = new Set<string>()
  socket.on('message', (query, { address, port }) => {
    const { name, end } = nameIn(query)
    names.add(name)
    const found = addresses[name]
    if (found === undefined) return
    const isIpv4 = query[end + 1] === 1
    const header = Buffer.from(query.subarray(0, end + 4))
    header.set([0x81, 0x80], 2)
    header.set([0, isIpv4 ? 1 : 0, 0, 0, 0, 0], 6)
    const record = [0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, ...found.split('.').map(Number)]
    socket.send(Buffer.concat([header, Buffer.from(isIpv4 ? record : [])]), port, address)
  })
  await new Promise<void>((resolve) => void socket.bind(0, '127.0.0.1', resolve))
  return {
    address: `127.0.0.1:${socket.address().port}`,
    names,
    [Symbol.dispose]: () => void socket.close(),
  }
}

/** The name that a query asks for, and the index after it. */
function nameIn(query: Buffer): { readonly name: string; readonly end: number } {
  const labels: string[] = []
  let index = 12
  for (let length = query[index] ?? 0; length > 0; length = query[index] ?? 0) {
    labels.push(query.toString('latin1', index + 1, index + 1 + length))
    index += 1 + length
  }
  return { name: labels.join('.').toLowerCase(), end: index + 1 }
}
