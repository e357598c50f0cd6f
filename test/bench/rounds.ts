import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { lazy } from '../../src/lib/lazy.ts'
import { startServing } from '../reliability/load/program.ts'
import type { Contender, Place, Running } from './contender.ts'
import { measureContender } from './measure-contender.ts'
import { residentOf } from './memory.ts'
import { createResults, type Series } from './results.ts'
import { syscallTool } from './syscalls.ts'
import type { Workload } from './workload.ts'

/** All that was measured in a run. */
export type Bench = {
  readonly series: readonly Series[]
  /** Bytes in memory before any request, by contender. */
  readonly idle: Readonly<Record<string, number>>
  /** Sentences for the end of the report: what could not be measured, and how. */
  readonly notes: readonly string[]
}

export type BenchPlan = {
  readonly contenders: readonly Contender[]
  readonly workloads: readonly Workload[]
  readonly rounds: number
  /** Milliseconds; see `Job`. */
  readonly duration: number
  /** Whether one more round counts system calls. */
  readonly syscalls: boolean
  readonly log: (line: string) => void
}

/** Milliseconds that a program has to come to rest after its start, before its idle memory is read. */
const restMs = 1000

/**
 * Starts all contenders and measures them in rounds. In each round all of them do each work in turn: what else the
 * machine does affects all of them alike.
 */
export async function runBench(plan: BenchPlan): Promise<Bench> {
  const folder = await mkdtemp(join(tmpdir(), 'weir-bench-'))
  const upstream = await startServing(['test/bench/upstream.ts'])
  const started = new Set<Running>()
  const end = lazy(async () => {
    await Promise.all([...started].map(({ stop }) => stop()))
    await upstream[Symbol.asyncDispose]()
    await rm(folder, { recursive: true, force: true })
  })
  const interrupted = () => void end().finally(() => process.exit(1))
  process.on('SIGINT', interrupted)
  process.on('SIGTERM', interrupted)
  try {
    const place = { upstream: upstream.url, folder, downloads: folder }
    const notes: string[] = []
    const running = new Map<Contender, Running>()
    for (const contender of plan.contenders.map((one) => tracked(one, started))) {
      const program = await contender.start(place).catch(String)
      if (typeof program === 'string') notes.push(program)
      else running.set(contender, program)
    }
    await Bun.sleep(restMs)
    const idle = Object.fromEntries(
      [...running].flatMap(([{ name }, { pid }]) => (pid ? [[name, residentOf(pid)]] : [])),
    )
    return { series: await measureRounds(plan, place, running, notes), idle, notes }
  } finally {
    process.off('SIGINT', interrupted)
    process.off('SIGTERM', interrupted)
    await end()
  }
}

/** Adds what a contender starts to a set, so that it can be stopped whatever happens. */
function tracked(contender: Contender, started: Set<Running>): Contender {
  return {
    ...contender,
    async start(place) {
      const program = await contender.start(place)
      if (typeof program !== 'string') started.add(program)
      return program
    },
  }
}

/** Measures all rounds, and a last one that counts system calls where the plan says so. */
async function measureRounds(
  plan: BenchPlan,
  place: Place,
  running: ReadonlyMap<Contender, Running>,
  notes: string[],
): Promise<readonly Series[]> {
  const results = createResults(notes, plan.log)
  for (let round = 0; round < plan.rounds; round++)
    for (const workload of plan.workloads)
      for (const [contender, program] of running) {
        const request = { contender, program, workload, place, duration: plan.duration, round }
        await results.add(request, () => measureContender(request))
      }
  if (!plan.syscalls) return results.series()
  const tool = await syscallTool()
  notes.push(tool ? `System calls were counted by ${tool}, in a round of their own.` : noTool)
  if (tool === undefined) return results.series()
  for (const workload of plan.workloads.filter(({ fresh }) => !fresh))
    for (const [contender, program] of running) {
      if (program.pid === null) continue
      const request = { contender, program, workload, place, duration: plan.duration, round: plan.rounds }
      await results.addSyscalls(request, () => measureContender({ ...request, syscalls: true }))
    }
  return results.series()
}

const noTool = 'System calls were not counted: neither perf nor strace can do it here.'
