import { connect, type Socket } from 'node:net'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startWeir } from '../../operation/support/weir-process.ts'
import { firstKey } from '../../../support/app.ts'

/** The outcome of connections that send nothing, or an incomplete request. */
export type HeldConnections = {
  /** How many of each kind are open after two minutes. */
  readonly open: Readonly<Record<string, number>>
  /** Seconds after which the last one of each kind was closed. */
  readonly closedAfter: Readonly<Record<string, number>>
  /** Whether another client received its response each time. */
  readonly served: boolean
}

const each = 1000
/** Seconds. */
const maxSeconds = 120

const key = `authorization: Bearer ${firstKey}\r\n`

/** What is sent at once, and then every second. */
const kinds: Readonly<Record<string, readonly [first: string, drip: string]>> = {
  silent: ['', ''],
  'half a head': ['POST /v1/responses HTTP/1.1\r\nhost: a\r\n', ''],
  'headers for ever': ['POST /v1/responses HTTP/1.1\r\nhost: a\r\n', 'x: y\r\n'],
  'a header for ever': ['POST /v1/responses HTTP/1.1\r\nhost: a\r\nx: ', 'y'],
  'silent after a reply': [`GET /v1/models HTTP/1.1\r\nhost: a\r\n${key}\r\n`, ''],
  'half a head after a reply': [`GET /livez HTTP/1.1\r\nhost: a\r\n\r\nPOST /v1/respo`, ''],
}

/** Opens a thousand connections of each kind and measures how long they stay open beside another client. */
export async function holdConnections(): Promise<HeldConnections> {
  const folder = mkdtempSync(join(tmpdir(), 'weir-held-'))
  try {
    await using weir = await startWeir({ settings: { log: 'off' }, folder })
    const groups = Object.entries(kinds).map(([name, [first, drip]]) => ({
      name,
      drip,
      ...hold(weir.url, first),
    }))
    const startedAt = performance.now()
    const closedAfter: Record<string, number> = {}
    let replied = true
    for (let second = 0; second < maxSeconds && Object.keys(closedAfter).length < groups.length; second++) {
      for (const { name, drip, open } of groups) {
        for (const socket of open) if (drip !== '') socket.write(drip)
        if (open.size === 0) closedAfter[name] ??= Math.round((performance.now() - startedAt) / 1000)
      }
      const reply = await weir.chat({ model: 'weir/echo', messages: [{ role: 'user', content: 'Hello.' }] })
      replied &&= (await reply.text()).includes('Hello.')
      await Bun.sleep(1000)
    }
    const left = Object.fromEntries(groups.map(({ name, open }) => [name, open.size]))
    for (const { open } of groups) for (const socket of open) socket.destroy()
    return { open: left, closedAfter, served: replied }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function hold(url: string, first: string): { readonly open: ReadonlySet<Socket> } {
  const { hostname, port } = new URL(url)
  const open = new Set<Socket>()
  for (let number = 0; number < each; number++) {
    const socket = connect(Number(port), hostname)
    open.add(socket)
    socket.on('error', () => {})
    socket.on('data', () => {})
    socket.on('close', () => open.delete(socket))
    if (first !== '') socket.write(first)
  }
  return { open }
}
