import { readdirSync, readFileSync } from 'node:fs'

/** The processor time of a process up to now. */
export type ProcessUsage = {
  /** Microseconds of each living thread. */
  readonly threads: ReadonlyMap<string, number>
  /** Microseconds of the whole process, ended threads included, with a resolution of 10 ms or more. */
  readonly coarse: number
}

/** Reads the processor time of a process; undefined on Windows, which does not report it. */
export function readProcessUsage(pid: number): ProcessUsage | undefined {
  if (process.platform === 'linux') return { threads: readThreadTimes(pid), coarse: readLinuxTime(pid) }
  if (process.platform === 'win32') return undefined
  return { threads: new Map(), coarse: readListedTime(pid) }
}

/** Returns the microseconds of processor time between two readings. */
export function processorTime(before: ProcessUsage, after: ProcessUsage): number {
  let sum = 0
  for (const [thread, time] of after.threads) sum += time - (before.threads.get(thread) ?? 0)
  // Threads that ended in between are counted only by the coarse clock.
  return Math.max(sum, after.coarse - before.coarse - coarseStepUs)
}

/** The clock tick of Linux: a coarse difference may be too large by this much. */
const coarseStepUs = 10_000

function readThreadTimes(pid: number): Map<string, number> {
  const folder = `/proc/${pid}/task`
  return new Map(readdirSync(folder).flatMap((thread) => readThreadTime(folder, thread)))
}

/** A thread may end while it is read, and some kernels have no schedstat. */
function readThreadTime(folder: string, thread: string): [string, number][] {
  try {
    const [nanoseconds] = readFileSync(`${folder}/${thread}/schedstat`, 'utf8').split(' ')
    return [[thread, Number(nanoseconds) / 1000]]
  } catch {
    return []
  }
}

/** Field 2 is the program name in brackets, which may contain spaces. */
function readLinuxTime(pid: number): number {
  const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) * coarseStepUs
}

function readListedTime(pid: number): number {
  const text = Bun.spawnSync(['ps', '-o', 'time=', '-p', String(pid)])
    .stdout.toString()
    .trim()
  return text.split(/[-:]/).reduce((sum, part) => sum * 60 + Number(part), 0) * 1_000_000
}
