import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { lazy } from '../../src/lib/lazy.ts'
import { startServing } from '../reliability/load/program.ts'
import type { Contender, Running } from './contender.ts'
import type { Job, Measured } from './job.ts'
import { residentOf } from './memory.ts'
import { clientOf } from './run-client.ts'
import type { Workload } from './workloads.ts'

/** All that was measured of one contender at one workload, a measurement for each round. */
export type Series = {
  readonly workload: string
  readonly contender: string
  readonly rounds: readonly Measured[]
}

export type Bench = {
  readonly series: readonly Series[]
  /** Bytes in memory before any request, by contender. */
  readonly idle: Readonly<Record<string, number>>
  /** A sentence for each thing that could not be measured. */
  readonly missing: readonly string[]
}

export type BenchPlan = {
  readonly contenders: readonly Contender[]
  readonly workloads: readonly Workload[]
  readonly rounds: number
  /** Milliseconds; see `Job`. */
  readonly duration: number
  readonly say: (line: string) => void
}

/**
 * Starts all contenders and measures them in turn, workload by workload, in rounds: what else the machine does hits
 * all of them alike.
 */
export async function runBench(plan: BenchPlan): Promise<Bench> {
  const folder = await mkdtemp(join(tmpdir(), 'weir-bench-'))
  const upstream = await startServing(['test/bench/upstream.ts'])
  const missing: string[] = []
  const running = new Map<Contender, Running>()
  const end = lazy(async () => {
    await Promise.all([...running.values()].map(({ stop }) => stop()))
    await upstream[Symbol.asyncDispose]()
    await rm(folder, { recursive: true, force: true })
  })
  const interrupted = () => void end().finally(() => process.exit(1))
  process.on('SIGINT', interrupted)
  process.on('SIGTERM', interrupted)
  try {
    for (const contender of plan.contenders) {
      const started = await contender.start({ upstream: upstream.url, folder }).catch(String)
      if (typeof started === 'string') missing.push(started)
      else running.set(contender, started)
    }
    const idle = Object.fromEntries(
      [...running].flatMap(([{ name }, { pid }]) => (pid ? [[name, residentOf(pid)]] : [])),
    )
    const series: Series[] = []
    for (const workload of plan.workloads)
      series.push(...(await measureAll(workload, running, upstream.url, plan, missing)))
    return { series, idle, missing }
  } finally {
    await end()
  }
}

async function measureAll(
  workload: Workload,
  running: ReadonlyMap<Contender, Running>,
  upstream: string,
  plan: BenchPlan,
  missing: string[],
): Promise<Series[]> {
  await behave(upstream, workload)
  const able = [...running].filter(([{ name }]) => !workload.without(name))
  const rounds = new Map(able.map(([{ name }]) => [name, [] as Measured[]]))
  const failed = new Set<string>()
  for (let round = 0; round < plan.rounds; round++)
    for (const [contender, program] of able) {
      const { name } = contender
      if (failed.has(name)) continue
      try {
        const measured = await clientOf(jobOf(workload, contender, program, plan.duration, round === 0))
        rounds.get(name)?.push(measured)
        plan.say(`${workload.name}  ${name}  ${shortOf(measured)}`)
      } catch (error) {
        failed.add(name)
        missing.push(`${name} has no ${workload.name}: ${String(error).slice(0, 200)}`)
        plan.say(missing.at(-1) ?? '')
      }
    }
  const whole = [...rounds].filter(([name]) => !failed.has(name))
  return whole.map(([contender, rounds]) => ({ workload: workload.name, contender, rounds }))
}

async function behave(upstream: string, workload: Workload): Promise<void> {
  const query = Object.entries(workload.upstream).map(([name, value]) => [name, String(value)])
  await fetch(`${upstream}/behave?${new URLSearchParams(Object.fromEntries(query))}`)
}

function jobOf(
  workload: Workload,
  { gateway }: Contender,
  { url, pid, headers }: Running,
  duration: number,
  first: boolean,
): Job {
  return {
    // Code runs many times before it runs fast.
    warmUp: first ? 4 * duration : duration / 5,
    url: url + (gateway ? workload.path : workload.nativePath),
    headers: headers(workload),
    body: workload.body,
    ending: gateway ? workload.ending : workload.nativeEnding,
    load: workload.load,
    duration,
    pid,
  }
}

function shortOf({ cpu, latency, firstToken, rate }: Measured): string {
  const time = (latency ?? firstToken)?.p50.toFixed(3) ?? '-'
  return `${cpu?.toFixed(1) ?? '-'} µs, ${time} ms, ${Math.round(rate)} in a second`
}
