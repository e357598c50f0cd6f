import type { App } from './app.ts'
import { openConnection } from './connection.ts'

/** The bytes that requests of the gateway have acquired, by its metrics. */
export async function heldBytes(app: App): Promise<number> {
  const text = await (await app.request('/metrics')).text()
  return Number(/^weir_memory_in_flight_bytes (\d+)$/m.exec(text)?.[1])
}

/** Resolves once this many calls are open, by the metrics. */
export async function waitForOpenCalls(app: App, count: number): Promise<void> {
  const deadline = performance.now() + 60_000
  const line = new RegExp(`^weir_in_flight\\{kind="calls"\\} ${count}$`, 'm')
  while (!line.test(await (await app.request('/metrics')).text()))
    if (performance.now() > deadline) throw new Error(`There are never ${count} open calls.`)
}

/** Resolves once the held bytes meet the condition. Each check is a request, which lets the gateway run. */
export async function waitForHeldBytes(app: App, right: (bytes: number) => boolean): Promise<void> {
  const deadline = performance.now() + 60_000
  for (let held = Number.NaN; !right(held);) {
    held = await heldBytes(app)
    if (performance.now() > deadline) throw new Error(`The gateway holds ${held} bytes.`)
  }
}

/** Resolves when requests have released all bytes. */
export function waitForRelease(app: App): Promise<void> {
  return waitForHeldBytes(app, (bytes) => bytes === 0)
}

/** Sends a request whose body never ends. */
export async function openUnfinishedRequest(
  app: App,
  headers: string,
  opening = '{"model":',
  { authorization } = { authorization: `Bearer ${app.key}` },
) {
  const connection = await openConnection(app.url)
  const head = `POST /v1/chat/completions HTTP/1.1\r\nhost: a\r\nauthorization: ${authorization}\r\n`
  connection.write(`${head}${headers}\r\n\r\n${opening}`)
  return connection
}
