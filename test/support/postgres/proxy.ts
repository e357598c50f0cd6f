import { connect, createServer, type Socket } from 'node:net'

/** A proxy in front of a server, which breaks and delays connections, and counts what they wait for. */
export type Proxy = {
  /** The URL of a database, through the proxy. */
  through(url: string): string
  /** Breaks all connections at once. */
  cut(): void
  /** Breaks each of the next connections that sends a COMMIT, when the server has received it. */
  cutAfterCommit(times: number): void
  /** How many connections were broken after a COMMIT. */
  cutCommits(): number
  /** Loses what the server sends to the next connection that sends this text, from then on; the connection stays open. */
  muteAfter(text: string): void
  /** Delays what the server sends by this time from now on. */
  delay(milliseconds: number): void
  /**
   * Records the round trips from now on; what a client sends without waiting for a reply is one. Call the returned
   * function for the number of those so far in which one of these texts was sent.
   */
  recordRoundTrips(): (...texts: readonly string[]) => number
  [Symbol.dispose](): void
}

/** Starts a proxy on loopback for the server on this port. */
export async function startProxy(serverPort: number): Promise<Proxy> {
  const sockets = new Set<Socket>()
  const trips: { sent: string }[] = []
  let recording = false
  let [toCut, cutCommits, delayMs] = [0, 0, 0]
  let muting: string | undefined

  function accept(client: Socket): void {
    const server = connect(serverPort, '127.0.0.1')
    for (const socket of [client, server]) {
      sockets.add(socket)
      socket.on('error', () => {})
      socket.on('close', () => {
        sockets.delete(socket)
        // The server gets what was sent to it before the connection is closed.
        client.destroy()
        server.end()
      })
    }
    let trip: { sent: string } | undefined
    let muted = false
    client.on('data', (data) => {
      server.write(data)
      if (muting !== undefined && data.includes(muting)) {
        muting = undefined
        muted = true
      }
      if (recording) {
        if (trip === undefined) trips.push((trip = { sent: '' }))
        trip.sent += data.toString('latin1')
      }
      if (toCut === 0 || !data.includes('COMMIT')) return
      toCut--
      cutCommits++
      client.destroy()
    })
    const forward = (data: Parameters<Socket['write']>[0]) => {
      trip = undefined
      if (!client.destroyed && !muted) client.write(data)
    }
    server.on('data', (data) => void (delayMs > 0 ? setTimeout(forward, delayMs, data) : forward(data)))
  }

  const listener = createServer(accept)
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve))
  const address = listener.address()
  const port = address && typeof address === 'object' ? address.port : 0
  const cut = () => sockets.forEach((socket) => socket.destroy())
  return {
    through: (url) => url.replace(`:${serverPort}/`, `:${port}/`),
    cut,
    cutAfterCommit: (times) => void (toCut = times),
    cutCommits: () => cutCommits,
    muteAfter: (text) => void (muting = text),
    delay: (milliseconds) => void (delayMs = milliseconds),
    recordRoundTrips() {
      recording = true
      return (...texts) => trips.filter(({ sent }) => texts.some((text) => sent.includes(text))).length
    },
    [Symbol.dispose]() {
      listener.close()
      cut()
    },
  }
}
