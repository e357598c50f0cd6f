import { type Percentiles } from '../../src/cli/bench/load.ts'
import { median } from './send.ts'
import type { Measured } from './job.ts'
import type { ProcessCounts } from './process-counts.ts'
import type { Series } from './results.ts'
import type { Bench } from './rounds.ts'

/** The medians of all rounds of one contender at one workload. */
export type Line = {
  readonly contender: string
  /** Microseconds of processor time for a request or a chunk. */
  readonly cpu: number | null
  /** How far its rounds lie apart, as a share of the median. */
  readonly spread: number | null
  /** That of the base in the same round is 1. */
  readonly ratio: number | null
  /** Milliseconds more than the provider alone takes, in the same round. */
  readonly latency: Percentiles | null
  readonly firstToken: Percentiles | null
  readonly gap: Percentiles | null
  readonly rate: number
  readonly peak: number | null
  readonly resident: number | null
  readonly perStream: number | null
  readonly written: number | null
  readonly counts: ProcessCounts | null
}

/** The lines of each workload, in the order in which they were measured. */
export function summarize({ series }: Bench, base: string): ReadonlyMap<string, readonly Line[]> {
  const byWorkload = Map.groupBy(series, ({ workload }) => workload)
  return new Map([...byWorkload].map(([name, found]) => [name, found.map((one) => lineOf(one, found, base))]))
}

function lineOf({ contender, rounds, syscalls }: Series, others: readonly Series[], base: string): Line {
  const roundsOf = (name: string) => others.find((other) => other.contender === name)?.rounds ?? []
  const [bases, directs] = [roundsOf(base), roundsOf('direct')]
  const cpus = known(rounds.map(({ cpu }) => cpu))
  const ratios = known(rounds.map(({ cpu }, round) => quotient(cpu, bases[round]?.cpu)))
  return {
    contender,
    cpu: medianOf(cpus),
    spread: cpus.length > 1 ? (Math.max(...cpus) - Math.min(...cpus)) / median(cpus) : null,
    ratio: medianOf(ratios),
    latency: added(rounds, directs, 'latency'),
    firstToken: added(rounds, directs, 'firstToken'),
    gap: percentiles(rounds.map(({ gap }) => gap)),
    rate: median(rounds.map(({ rate }) => rate)),
    peak: medianOf(known(rounds.map(({ peak }) => peak))),
    resident: medianOf(known(rounds.map(({ resident }) => resident))),
    perStream: medianOf(known(rounds.map(({ perStream }) => perStream))),
    written: medianOf(known(rounds.map(({ written }) => written))),
    counts: countsOf(rounds, syscalls),
  }
}

function countsOf(rounds: readonly Measured[], syscalls: number | null): ProcessCounts | null {
  const found = rounds.map(({ counts }) => counts).filter((counts) => counts !== null)
  if (found.length === 0) return null
  return {
    voluntary: median(found.map(({ voluntary }) => voluntary)),
    involuntary: median(found.map(({ involuntary }) => involuntary)),
    minorFaults: median(found.map(({ minorFaults }) => minorFaults)),
    syscalls,
  }
}

function added(rounds: readonly Measured[], directs: readonly Measured[], what: 'latency' | 'firstToken') {
  const differences = rounds.map((measured, round): Percentiles | null => {
    const [through, direct] = [measured[what], directs[round]?.[what]]
    return through && direct ? { p50: through.p50 - direct.p50, p99: through.p99 - direct.p99 } : null
  })
  return percentiles(differences)
}

function percentiles(found: readonly (Percentiles | null)[]): Percentiles | null {
  const present = found.filter((one) => one !== null)
  if (present.length === 0) return null
  return { p50: median(present.map(({ p50 }) => p50)), p99: median(present.map(({ p99 }) => p99)) }
}

function quotient(value: number | null, base: number | null | undefined): number | null {
  return value === null || !base ? null : value / base
}

function known(values: readonly (number | null)[]): number[] {
  return values.filter((value) => value !== null)
}

function medianOf(values: readonly number[]): number | null {
  return values.length > 0 ? median(values) : null
}
