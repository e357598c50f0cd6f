import { readdirSync, readFileSync } from 'node:fs'

/** What the operating system counts of a process. */
export type ProcessCounts = {
  /** Context switches because a thread waited for something. */
  readonly voluntary: number
  /** Context switches because another thread needed the processor. */
  readonly involuntary: number
  /** Page faults that needed no disk: memory that is used for the first time. */
  readonly minorFaults: number
  /** Null where they were not counted. */
  readonly syscalls: number | null
}

/** The counters of a process up to now. */
export type CounterReading = {
  readonly threads: ReadonlyMap<string, Switches>
  readonly minorFaults: number
}

type Switches = { readonly voluntary: number; readonly involuntary: number }

/** Reads the counters of a process with all its threads. */
export function readCounters(pid: number): CounterReading {
  const folder = `/proc/${pid}/task`
  const threads = new Map(readdirSync(folder).flatMap((thread) => readSwitches(folder, thread)))
  return { threads, minorFaults: readMinorFaults(pid) }
}

/** A thread may end while it is read. */
function readSwitches(folder: string, thread: string): [string, Switches][] {
  try {
    const text = readFileSync(`${folder}/${thread}/status`, 'utf8')
    const count = (kind: string) =>
      Number(new RegExp(`^${kind}_ctxt_switches:\\s+(\\d+)`, 'm').exec(text)?.[1])
    return [[thread, { voluntary: count('voluntary'), involuntary: count('nonvoluntary') }]]
  } catch {
    return []
  }
}

/** Field 2 is the program name in brackets, which may contain spaces; field 10 is the number of faults. */
function readMinorFaults(pid: number): number {
  const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
  return Number(text.slice(text.lastIndexOf(')') + 2).split(' ')[7])
}

/**
 * Returns the counts between two readings, divided by the number of requests or chunks. The switches of a thread that
 * ended in between are not counted.
 */
export function countsBetween(
  before: CounterReading,
  after: CounterReading,
  units: number,
  syscalls: number | null,
): ProcessCounts {
  const switches = (kind: keyof Switches) => {
    let sum = 0
    for (const [thread, found] of after.threads)
      sum += found[kind] - (before.threads.get(thread)?.[kind] ?? 0)
    return sum / units
  }
  return {
    voluntary: switches('voluntary'),
    involuntary: switches('involuntary'),
    minorFaults: (after.minorFaults - before.minorFaults) / units,
    syscalls: syscalls === null ? null : syscalls / units,
  }
}
