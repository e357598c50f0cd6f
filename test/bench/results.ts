import type { Measured } from './job.ts'
import type { Measurement } from './measure-contender.ts'

/** All that was measured of one contender at one workload, a measurement for each round. */
export type Series = {
  readonly workload: string
  readonly contender: string
  readonly rounds: readonly Measured[]
  /** For each request or chunk; null where they were not counted. */
  readonly syscalls: number | null
}

type Subject = Pick<Measurement, 'contender' | 'workload'>

/** Collects the measurements of a run. A contender that fails at a workload is not measured there again, and has no figure. */
export function createResults(notes: string[], log: (line: string) => void) {
  const found = new Map<string, Series>()
  const failed = new Set<string>()

  /** Measures one round. */
  async function add(subject: Subject, measure: () => Promise<Measured>): Promise<void> {
    await attempt(subject, measure, (measured, id, series) => {
      found.set(id, { ...series, rounds: [...series.rounds, measured] })
      log(`${id}  ${shortOf(measured)}`)
    })
  }

  /** Counts system calls, and nothing else: counting them takes time. */
  async function addSyscalls(subject: Subject, measure: () => Promise<Measured>): Promise<void> {
    await attempt(subject, measure, ({ counts }, id, series) => {
      found.set(id, { ...series, syscalls: counts?.syscalls ?? null })
      log(`${id}  ${counts?.syscalls?.toFixed(1) ?? '-'} system calls`)
    })
  }

  async function attempt(
    { workload, contender }: Subject,
    measure: () => Promise<Measured>,
    record: (measured: Measured, id: string, series: Series) => void,
  ): Promise<void> {
    const id = `${workload.name}  ${contender.name}`
    if (failed.has(id) || workload.without(contender.name)) return
    const empty = { workload: workload.name, contender: contender.name, rounds: [], syscalls: null }
    try {
      record(await measure(), id, found.get(id) ?? empty)
    } catch (error) {
      failed.add(id)
      const note = `${contender.name} has no ${workload.name}: ${String(error).slice(0, 200)}`
      notes.push(note)
      log(note)
    }
  }

  /** Returns what was measured in every round. */
  function series(): readonly Series[] {
    return [...found].filter(([id]) => !failed.has(id)).map(([, one]) => one)
  }

  return { add, addSyscalls, series }
}

function shortOf({ cpu, latency, firstToken, rate }: Measured): string {
  const time = (latency ?? firstToken)?.p50.toFixed(3) ?? '-'
  return `${cpu?.toFixed(1) ?? '-'} µs, ${time} ms, ${Math.round(rate)} in a second`
}
