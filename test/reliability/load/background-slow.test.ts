import { expect, test } from 'bun:test'
import { readFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { createGatewayProcess, type GatewayProcess } from '../money/support/gateway-process.ts'
import { pricing } from '../../support/billing-scenario.ts'
import { firstKey } from '../../support/app.ts'
import { chunks, delta, doneFrame } from '../../support/chat-fixtures.ts'
import { readEvents } from '../../support/responses.ts'
import { createUpstream } from '../../support/upstream.ts'

const words = 5000

const headers = { authorization: `Bearer ${firstKey}`, 'content-type': 'application/json' }

/** A run that emits this many chunks when its gate is opened, each with this many characters. */
async function startRun(characters: number) {
  const gate = Promise.withResolvers<void>()
  const pieces = Array.from({ length: words }, (_, index) =>
    delta({ content: ` word${index % 10}`.padEnd(characters, '.') }),
  )
  const upstream = await createUpstream(
    chunks([delta({ role: 'assistant' }), gate.promise, ...pieces, delta({}, 'stop'), doneFrame]),
  )
  const gateway = await createGatewayProcess(upstream.url, pricing)
  await gateway.start()
  const body = JSON.stringify({ model: 'acme/river', input: 'Tell all.', background: true })
  const reply = await fetch(`${gateway.url()}/v1/responses`, { method: 'POST', headers, body })
  const path = `/v1/responses/${((await reply.json()) as { id: string }).id}?stream=true`
  await upstream.request(0)
  return {
    gateway,
    path,
    open: gate.resolve,
    follow: async () => await readEvents(await fetch(gateway.url() + path, { headers })),
    async [Symbol.asyncDispose]() {
      await gateway[Symbol.asyncDispose]()
      await upstream[Symbol.asyncDispose]()
    },
  }
}

test('an output of 5,000 deltas is stored in little more than its text, with few commits', async () => {
  await using run = await startRun(6)
  const before = await commitsOf(run.gateway)
  run.open()
  const { events, last } = await run.follow()
  expect(last?.status).toBe('completed')
  expect(events.filter(({ type }) => type === 'response.output_text.delta')).toHaveLength(words)
  const commits = (await commitsOf(run.gateway)) - before
  const stored = await storedOf(run.gateway)
  console.log(`${words} pieces: ${stored} bytes in ${commits} commits`)
  expect(stored).toBeLessThan(60_000)
  // One for the end, and before that one per second for the output.
  expect(commits).toBeLessThan(20)
}, 30_000)

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
}, 30_000)

/** Everything that the run has stored, in bytes. */
async function storedOf({ books: billing }: GatewayProcess): Promise<number> {
  const pieces = 'SELECT coalesce(sum(octet_length(entries)), 0) FROM response_log'
  const sum = `SELECT sum(octet_length(log)) + (${pieces}) FROM responses`
  return Number((await billing.values(sum))[0]?.[0])
}

async function commitsOf({ url }: GatewayProcess): Promise<number> {
  const metrics = await (await fetch(`${url()}/metrics`)).text()
  const [, commits] = /^weir_database_commits_total (\d+)$/m.exec(metrics) ?? []
  return Number(commits)
}

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
