import { processorTime, type ProcessUsage, readProcessUsage } from '../../src/cli/bench/processor-time.ts'
import type { Job, Measured } from './job.ts'
import { forgetPeak, peakOf, residentOf, writtenBy } from './memory.ts'
import { countsBetween, type CounterReading, readCounters } from './process-counts.ts'
import { countSyscalls } from './syscalls.ts'

/** What a process has used up to a moment. */
export type CostReading = {
  readonly used: ProcessUsage | undefined
  readonly counters: CounterReading
  /** Bytes written to the disk. */
  readonly written: number
}

/** The part of a measurement that is read from the operating system. */
export type ProcessCost = Pick<Measured, 'cpu' | 'counts' | 'peak' | 'resident' | 'written'>

/** The number of requests, and of what they are divided into: chunks, or the requests themselves. */
export type Amount = { readonly requests: number; readonly units: number }

const noCost: ProcessCost = { cpu: null, counts: null, peak: null, resident: null, written: null }

/** The result of some work, the seconds it took, and what a process spent on it. */
export type Metered<Result> = {
  readonly result: Result
  readonly seconds: number
  readonly cost: ProcessCost
}

/** Runs the work and measures what the process of the job spends on it. */
export async function measureCost<Result>(
  { pid, syscalls }: Pick<Job, 'pid' | 'syscalls'>,
  work: () => Promise<Result>,
  amountOf: (result: Result) => Amount,
): Promise<Metered<Result>> {
  if (pid === null) return { ...(await timed(work)), cost: noCost }
  forgetPeak(pid)
  const counting = syscalls ? await countSyscalls(pid) : undefined
  const before = readCost(pid)
  const { result, seconds } = await timed(work)
  const after = readCost(pid)
  const calls = (await counting?.stop()) ?? null
  const { requests, units } = amountOf(result)
  const cost = {
    cpu: cpuBetween(before, after, units),
    counts: countsBetween(before.counters, after.counters, units, calls),
    peak: peakOf(pid),
    resident: residentOf(pid),
    written: (after.written - before.written) / requests,
  }
  return { result, seconds, cost }
}

async function timed<Result>(work: () => Promise<Result>): Promise<Omit<Metered<Result>, 'cost'>> {
  const startedAt = performance.now()
  const result = await work()
  return { result, seconds: (performance.now() - startedAt) / 1000 }
}

/** Reads what a process has used up to now. */
export function readCost(pid: number): CostReading {
  return { used: readProcessUsage(pid), counters: readCounters(pid), written: writtenBy(pid) }
}

/** Returns the microseconds of processor time for each unit between two readings. */
export function cpuBetween(before: CostReading, after: CostReading, units: number): number | null {
  return before.used && after.used ? processorTime(before.used, after.used) / units : null
}
