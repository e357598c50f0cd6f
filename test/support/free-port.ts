import { createServer } from 'node:net'

/** Below the ports that systems give to sockets which ask for any: 32768 and up. */
const [first, count] = [20_000, 12_000]

/**
 * Returns a port of 127.0.0.1 for a program that cannot choose one itself. No socket of another test takes it before the
 * program does, or while it is restarted.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = first + Math.floor(Math.random() * count)
    if (await isFree(port)) return port
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(false))
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
  })
}
