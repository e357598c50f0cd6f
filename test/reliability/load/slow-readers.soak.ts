import { expect, test } from 'bun:test'
import { readFile } from 'node:fs/promises'
import { connect } from 'node:net'
import type { GatewayProcess } from '../money/support/gateway-process.ts'
import { headers, startRun } from './long-run.ts'

test('readers who stop reading do not accumulate events in memory', async () => {
  const readers = 60
  // For each of them as much as no socket takes by itself: 12 MB.
  await using run = await startRun(2500)
  using _slow = await openSlowReaders(run.gateway.url(), run.path, readers)
  const before = await memoryOf(run.gateway)
  run.open()
  expect((await run.follow()).last?.status).toBe('completed')
  const growth = (await memoryOf(run.gateway)) - before
  console.log(`${readers} slow readers of 12 MB: ${growth.toFixed(0)} MiB more`)
  if (!Number.isNaN(growth)) expect(growth).toBeLessThan(500)
})

/** In MiB; NaN where the system does not report it. */
async function memoryOf({ pid }: GatewayProcess): Promise<number> {
  const status = await readFile(`/proc/${pid()}/status`, 'utf8').catch(() => '')
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) / 1024
}

/** Connections that request the stream, read its beginning, and then read nothing. */
async function openSlowReaders(url: string, path: string, count: number): Promise<Disposable> {
  const { hostname, port } = new URL(url)
  const request = `GET ${path} HTTP/1.1\r\nhost: localhost\r\nauthorization: ${headers.authorization}\r\n\r\n`
  const sockets = Array.from({ length: count }, () => connect(Number(port), hostname))
  const opening = sockets.map((socket) => {
    socket.write(request)
    return new Promise<void>((resolve) =>
      socket.once('data', () => {
        socket.pause()
        resolve()
      }),
    )
  })
  await Promise.all(opening)
  return { [Symbol.dispose]: () => sockets.forEach((socket) => socket.destroy()) }
}
