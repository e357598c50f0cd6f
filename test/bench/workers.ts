// What several workers on PostgreSQL cost and bring: bun test/bench/workers.ts [MILLISECONDS [ROUNDS]]. Prints Markdown. The servers are
// measured in turn, and the best round of each counts: what else the machine does hits all of them alike.
import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { availableParallelism, cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { compile } from '../../src/build/compile.ts'
import { requestBytes } from './connection.ts'
import { percentilesOf } from '../../src/cli/bench/load.ts'
import { send } from './send.ts'
import { processorTime, readProcessUsage } from '../../src/cli/bench/processor-time.ts'
import { startServing } from '../reliability/load/program.ts'
import { startPostgres } from '../support/postgres/server.ts'
import { projectFolder } from '../support/source.ts'
import { type RunningWeir, startWeir } from './weir.ts'

const workerCounts = [1, 2, 4]
const duration = Number(process.argv[2] ?? 2000)
const rounds = Array.from({ length: Number(process.argv[3] ?? 5) })
const connections = 32

/** Microseconds of a request, requests a second, and milliseconds. */
type Row = { readonly cpu: number; readonly rate: number; readonly p99: number }

const folder = await mkdtemp(join(tmpdir(), 'weir-workers-'))
const postgres = await startPostgres()
try {
  const machine = `${availableParallelism()} cores (${cpus()[0]?.model})`
  console.log(`${machine}, ${rounds.length} rounds of ${duration} ms\n`)
  await measureRequests()
} finally {
  await postgres.dispose()
  await rm(folder, { recursive: true, force: true })
}

/** The processor time and the rate of a short request, and of one that costs about a millisecond of JavaScript. */
async function measureRequests(): Promise<void> {
  const executable = join(folder, 'weir')
  await compile(join(projectFolder, 'src/main.ts'), executable)
  await using upstream = await startServing(['test/bench/upstream.ts'])
  const servers: RunningWeir[] = []
  try {
    for (const workers of workerCounts) {
      const options = {
        name: `weir-${workers}`,
        executable,
        prepaid: false,
        settings: { workers, log: 'off', database: await postgres.createDatabase() },
      }
      servers.push(await startWeir(options, { folder, upstream: upstream.url }))
    }
    for (const messages of [1, await messagesOfMillisecond(servers[0])]) {
      const title = `Requests with ${messages} ${messages === 1 ? 'message' : 'messages'}`
      print(title, await measureAll(servers, messages))
    }
  } finally {
    await Promise.all(servers.map(({ stop }) => stop()))
  }
}

async function measureAll(servers: readonly RunningWeir[], messages: number): Promise<readonly Row[]> {
  const measured: Row[][] = servers.map(() => [])
  for (const _ of rounds)
    for (const [index, running] of servers.entries()) measured[index]?.push(await measure(running, messages))
  return measured.map((rows) => ({
    cpu: Math.min(...rows.map(({ cpu }) => cpu)),
    rate: Math.max(...rows.map(({ rate }) => rate)),
    p99: Math.min(...rows.map(({ p99 }) => p99)),
  }))
}

/** Returns the length of a conversation that costs a millisecond of processor time. */
async function messagesOfMillisecond(running: RunningWeir | undefined): Promise<number> {
  if (running === undefined) throw new Error('There is no server.')
  const [short, long] = [await measure(running, 1), await measure(running, 401)]
  return Math.max(1, Math.round(((1000 - short.cpu) / (long.cpu - short.cpu)) * 400))
}

async function measure(running: RunningWeir, messages: number): Promise<Row> {
  const url = new URL('/v1/chat/completions', running.url)
  const body = JSON.stringify({ model: 'bench/chat', messages: conversation(messages) })
  const request = requestBytes(url, running.headers(), body)
  await send({ url, request, connections, durationMs: duration / 4 })
  const pids = processesOf(running.pid)
  const before = pids.map(readProcessUsage)
  const startedAt = performance.now()
  const { latencies } = await send({ url, request, connections, durationMs: duration })
  const seconds = (performance.now() - startedAt) / 1000
  const used = pids.map((pid, index) => {
    const [earlier, later] = [before[index], readProcessUsage(pid)]
    return earlier && later ? processorTime(earlier, later) : 0
  })
  const cpu = used.reduce((sum, time) => sum + time, 0) / latencies.length
  return { cpu, rate: latencies.length / seconds, p99: percentilesOf(latencies).p99 }
}

function conversation(messages: number): readonly object[] {
  const content =
    'How high is the river at the old mill today, and how much has it risen since the rain began?'
  return Array.from({ length: messages }, (_, index) => ({
    role: index % 2 === 0 ? 'user' : 'assistant',
    content: `${index}: ${content}`,
  }))
}

/** The server, and its workers if it has any. */
function processesOf(pid: number): readonly number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean)
  return [pid, ...children.map(Number)]
}

function print(title: string, rows: readonly Row[]): void {
  const [first] = rows
  const ratio = (of: (row: Row) => number, row: Row) => ratioText(of(row), first && of(first))
  const lines = rows.map((row, index) => [
    workerCounts[index],
    `${row.cpu.toFixed(0)} µs`,
    ratio(({ cpu }) => cpu, row),
    row.rate.toFixed(0),
    ratio(({ rate }) => rate, row),
    `${row.p99.toFixed(1)} ms`,
  ])
  const head = ['workers', 'processor time', 'ratio', 'requests a second', 'ratio', 'p99']
  console.log(`## ${title}\n\n${table([head, ...lines])}\n`)
}

function ratioText(value: number, first = Number.NaN): string {
  return (value / first).toFixed(2)
}

function table([head = [], ...rows]: readonly (readonly unknown[])[]): string {
  const line = (cells: readonly unknown[]) => `| ${cells.join(' | ')} |`
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n')
}
