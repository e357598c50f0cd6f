import { mkdtempSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startWeir, type WeirProcess } from '../../operation/support/weir-process.ts'
import { randomFrom } from '../../../unit/providers/protocols/support/random.ts'
import { startFuzzProvider } from './fuzz-provider.ts'
import { type FuzzRequest, randomRequest } from './fuzz-requests.ts'
import { memoryOf } from './gateway-memory.ts'

/** The result of random requests to a gateway. */
export type Fuzzed = {
  readonly requests: number
  /** How many replies had each status; 0 is a connection that was just ended. */
  readonly statuses: Readonly<Record<number, number>>
  /** Replies that must never be, and requests that had none in time; at most a few. */
  readonly findings: readonly string[]
  /** The gateway still serves requests, and stopped on its signal. */
  readonly alive: boolean
  /** In MiB, from the first tenth of the requests to the end. */
  readonly growth: number
  /** What the gateway has logged. */
  readonly log: string
}

export type FuzzOptions = {
  readonly seed: string
  /** It ends after this many requests, or this many milliseconds. */
  readonly requests?: number
  readonly time?: number
}

const clients = 16
/** Milliseconds for one reply; a background run that is followed takes as long as it takes, which is not long here. */
const deadline = 60_000

/** Sends random requests to a gateway in its own process, in front of a provider that always responds. */
export async function fuzz({ seed, requests = Infinity, time = Infinity }: FuzzOptions): Promise<Fuzzed> {
  const folder = mkdtempSync(join(tmpdir(), 'weir-fuzz-'))
  try {
    await using provider = startFuzzProvider()
    await using weir = await startWeir({ settings: { ...settings, ...provider.settings }, folder })
    const run = createRun(weir.url, randomFrom(seed))
    const stopAt = performance.now() + time
    const more = () => run.sent() < requests && performance.now() < stopAt
    await run.all(() => run.sent() < requests / 10 && performance.now() < stopAt - time * 0.9)
    const before = await memoryOf(weir.pid)
    await run.all(more)
    const growth = (await memoryOf(weir.pid)) - before
    const { statuses, findings } = run
    return { requests: run.sent(), statuses, findings, alive: await endsWell(weir), growth, log: weir.log() }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function createRun(url: string, draw: () => number) {
  const statuses: Record<number, number> = {}
  const findings: string[] = []
  const ids: string[] = []
  let sent = 0

  async function one(): Promise<void> {
    sent += 1
    const request = randomRequest(draw, ids)
    const text = await replyTo(url, request)
    const status = statusOf(text)
    statuses[status] = (statuses[status] ?? 0) + 1
    const wrong = text === undefined || mustNotBe(status, request, text)
    if (wrong && findings.length < 20) findings.push(describe(request, text))
    // The last ones, so that they are found, changed, cancelled and deleted by turns.
    for (const [id] of (text ?? '').matchAll(/\b(?:chatcmpl-|resp_|msg_)[0-9a-f]{32}\b/g)) ids.push(id)
    if (ids.length > 200) ids.splice(0, ids.length - 200)
  }

  async function client(more: () => boolean): Promise<void> {
    while (more()) await one()
  }

  const all = (more: () => boolean) => Promise.all(Array.from({ length: clients }, () => client(more)))
  return { statuses, findings, sent: () => sent, all }
}

/** Errors of the gateway's own, which nothing that a client sends may cause; 502, because this provider never fails. */
function mustNotBe(status: number, { broken }: FuzzRequest, text: string): boolean {
  if (status >= 500 && status !== 505) return true
  if (status === 0) return !broken
  // A stream that has started reports its failure at the end.
  return /"code":"(internal_error|upstream_unavailable|upstream_timeout)"|node_modules|<html/.test(text)
}

function statusOf(text = ''): number {
  const statuses = [...text.matchAll(/^HTTP\/1\.1 (\d{3})/gm)].map(([, status]) => Number(status))
  return statuses.find((status) => status >= 200) ?? 0
}

function describe({ bytes }: FuzzRequest, text: string | undefined): string {
  return `${bytes.toString('latin1').slice(0, 3000)}\n→ ${text === undefined ? 'no reply in time' : text.slice(0, 600)}`
}

/** All that comes until the connection ends; undefined where it does not in time. */
function replyTo(url: string, { bytes }: FuzzRequest): Promise<string | undefined> {
  const { hostname, port } = new URL(url)
  return new Promise((resolve) => {
    const pieces: Buffer[] = []
    const socket = connect(Number(port), hostname)
    const timer = setTimeout(() => {
      resolve(undefined)
      socket.destroy()
    }, deadline)
    socket.on('error', () => {})
    socket.on('data', (piece: Buffer) => pieces.push(piece))
    socket.on('close', () => {
      clearTimeout(timer)
      resolve(Buffer.concat(pieces).toString())
    })
    socket.write(bytes)
  })
}

async function endsWell(weir: WeirProcess): Promise<boolean> {
  const messages = [{ role: 'user', content: 'Are you well?' }]
  const reply = await weir.chat({ model: 'weir/echo', messages })
  const output = await reply.text()
  weir.signal('SIGTERM')
  return reply.status === 200 && output.includes('Are you well?') && (await weir.exited) === 0
}

/** Limits that are never reached, and no line for each request. */
const settings = {
  limits: { requests_per_minute: 100_000_000, tokens_per_minute: 1_000_000_000_000 },
  log: 'off',
}
