// What several workers cost and bring: bun test/bench/workers.ts [MILLISECONDS]. Prints Markdown.
import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { availableParallelism, cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { compile } from '../../src/build/compile.ts'
import { requestBytes } from '../../src/cli/bench/connection.ts'
import { send } from '../../src/cli/bench/load.ts'
import { processorTime, readProcessUsage } from '../../src/cli/bench/processor-time.ts'
import { percentilesOf } from '../../src/cli/bench/statistics.ts'
import { createLog } from '../../src/lib/log.ts'
import { openStorage } from '../../src/storage/open-storage.ts'
import { startServing } from '../reliability/load/program.ts'
import { projectFolder } from '../support/source.ts'
import { type RunningWeir, startWeir } from './weir.ts'
import type { WriteLoopResult } from './write-loop.ts'

const workerCounts = [1, 2, 4]
const duration = Number(process.argv[2] ?? 5000)
const connections = 32

type Row = { readonly cpu: number; readonly rate: number; readonly p99: number }

const folder = await mkdtemp(join(tmpdir(), 'weir-workers-'))
try {
  console.log(`${availableParallelism()} cores (${cpus()[0]?.model}), ${duration} ms for each figure\n`)
  await measureRequests()
  await measureWrites()
} finally {
  await rm(folder, { recursive: true, force: true })
}

/** The processor time and the rate of a short request, and of one that costs about a millisecond of JavaScript. */
async function measureRequests(): Promise<void> {
  const executable = join(folder, 'weir')
  await compile(join(projectFolder, 'src/main.ts'), executable)
  await using upstream = await startServing(['test/bench/upstream.ts'])
  let messages = 1
  for (const heavy of [false, true]) {
    const rows: Row[] = []
    for (const workers of workerCounts) {
      const name = `weir-${workers}${heavy ? '-heavy' : ''}`
      const options = { name, executable, prepaid: false, settings: { workers, log: 'off' } }
      const running = await startWeir(options, { folder, upstream: upstream.url })
      try {
        if (heavy && workers === 1) messages = await messagesOfMillisecond(running)
        rows.push(await measure(running, messages))
      } finally {
        await running.stop()
      }
    }
    print(`Requests with ${messages === 1 ? 'a message' : `${messages} messages`}`, rows)
  }
}

/** Returns the length of a conversation that costs a millisecond of processor time. */
async function messagesOfMillisecond(running: RunningWeir): Promise<number> {
  const [short, long] = [await measure(running, 1), await measure(running, 401)]
  return Math.max(1, Math.round(((1000 - short.cpu) / (long.cpu - short.cpu)) * 400))
}

async function measure(running: RunningWeir, messages: number): Promise<Row> {
  const url = new URL('/v1/chat/completions', running.url)
  const content =
    'How high is the river at the old mill today, and how much has it risen since the rain began?'
  const conversation = Array.from({ length: messages }, (_, index) => ({
    role: index % 2 === 0 ? 'user' : 'assistant',
    content: `${index}: ${content}`,
  }))
  const body = JSON.stringify({ model: 'bench/chat', messages: conversation })
  const request = requestBytes(url, running.headers(), body)
  await send({ url, request, connections, durationMs: duration / 2 })
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

/** The server, and its workers if it has any. */
function processesOf(pid: number): readonly number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean)
  return [pid, ...children.map(Number)]
}

/** How many reservations and settlements a second the processes of one SQLite file write together. */
async function measureWrites(): Promise<void> {
  const lines = [
    '| processes | writes a second | ratio | writes in a commit | failed | slowest |',
    '| --- | --- | --- | --- | --- | --- |',
  ]
  let first = 0
  for (const processes of workerCounts) {
    const file = join(folder, `writes-${processes}.db`)
    const organization = await prepareLedger(file)
    const results = await Promise.all(Array.from({ length: processes }, () => writeLoop(file, organization)))
    const sum = (of: (result: WriteLoopResult) => number) =>
      results.reduce((total, result) => total + of(result), 0)
    const rate = (sum(({ writes }) => writes) * 1000) / duration
    first ||= rate
    const perCommit = sum(({ writes }) => writes) / sum(({ commits }) => commits)
    const slowest = Math.max(...results.map(({ slowest }) => slowest))
    lines.push(
      `| ${processes} | ${rate.toFixed(0)} | ${(rate / first).toFixed(2)} | ${perCommit.toFixed(1)} | ${sum(({ failures }) => failures)} | ${slowest.toFixed(0)} ms |`,
    )
  }
  console.log(`## Writes to SQLite\n\n${lines.join('\n')}`)
}

async function prepareLedger(file: string): Promise<string> {
  const storage = await openStorage(
    file,
    createLog(() => {}),
    { shared: true },
  )
  await storage.bootstrap(undefined)
  await storage.managed.organizations.change('default', { billing: 'prepaid' })
  const { id } = await storage.managed.organizations.credit('default', 1_000_000_000_000_000n)
  await storage.close()
  return id
}

async function writeLoop(file: string, organization: string): Promise<WriteLoopResult> {
  const program = join(projectFolder, 'test/bench/write-loop.ts')
  const child = Bun.spawn([process.execPath, program, file, organization, String(duration)], {
    stdout: 'pipe',
  })
  return JSON.parse(await child.stdout.text()) as WriteLoopResult
}

function print(title: string, rows: readonly Row[]): void {
  const [first] = rows
  const ratio = (of: (row: Row) => number, row: Row) =>
    (of(row) / (first ? of(first) : Number.NaN)).toFixed(2)
  const lines = rows.map((row, index) => {
    const { cpu, rate, p99 } = row
    return `| ${workerCounts[index]} | ${cpu.toFixed(0)} µs | ${ratio((each) => each.cpu, row)} | ${rate.toFixed(0)} | ${ratio((each) => each.rate, row)} | ${p99.toFixed(1)} ms |`
  })
  const head = [
    '| workers | processor time | ratio | requests a second | ratio | p99 |',
    '| --- | --- | --- | --- | --- | --- |',
  ]
  console.log(`## ${title}\n\n${[...head, ...lines].join('\n')}\n`)
}
