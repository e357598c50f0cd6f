import { readdirSync, readFileSync } from 'node:fs'

/** What a process has used until a moment. */
export type Used = {
  /** Processor time in microseconds of each thread that lives. */
  readonly threads: ReadonlyMap<string, number>
  /** That of the whole process, ended threads included, in steps of some milliseconds. */
  readonly coarse: number
}

/** What the system has counted of a process; undefined where it tells none. */
export function usedBy(pid: number): Used | undefined {
  if (process.platform === 'linux') return { threads: threadsOf(pid), coarse: linuxTime(pid) }
  if (process.platform === 'win32') return undefined
  return { threads: new Map(), coarse: listedTime(pid) }
}

/** Microseconds of processor time between two moments. */
export function processorTime(before: Used, after: Used): number {
  let sum = 0
  for (const [thread, time] of after.threads) sum += time - (before.threads.get(thread) ?? 0)
  // Threads that have ended in between are only in the coarse count.
  return Math.max(sum, after.coarse - before.coarse - coarseStep)
}

/** Microseconds: the clock tick of Linux, by which a coarse difference may be too large. */
const coarseStep = 10_000

function threadsOf(pid: number): Map<string, number> {
  const folder = `/proc/${pid}/task`
  return new Map(readdirSync(folder).flatMap((thread) => timeOfThread(folder, thread)))
}

/** A thread may end while it is looked at, and some kernels keep no such count. */
function timeOfThread(folder: string, thread: string): [string, number][] {
  try {
    const [nanoseconds] = readFileSync(`${folder}/${thread}/schedstat`, 'utf8').split(' ')
    return [[thread, Number(nanoseconds) / 1000]]
  } catch {
    return []
  }
}

/** The name of a program stands in brackets, and may hold spaces. */
function linuxTime(pid: number): number {
  const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) * coarseStep
}

function listedTime(pid: number): number {
  const text = Bun.spawnSync(['ps', '-o', 'time=', '-p', String(pid)])
    .stdout.toString()
    .trim()
  return text.split(/[-:]/).reduce((sum, part) => sum * 60 + Number(part), 0) * 1_000_000
}
