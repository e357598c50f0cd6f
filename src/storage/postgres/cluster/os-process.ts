import { readFileSync, readlinkSync } from 'node:fs'
import { hostname } from 'node:os'

/**
 * Identifies this process among all that run on any machine at any time: its process id, its start time, and the machine
 * with its boot and its namespaces, in which alone the other two mean something. Undefined where there is no /proc of Linux.
 */
export function ownOsProcess(): string | undefined {
  try {
    const { pid, startTime } = readStat('self')
    // In a container with the /proc of its host, the process ids there are others.
    return pid === process.pid ? `${pid} ${startTime} ${readMachine()}` : undefined
  } catch {
    return undefined
  }
}

/**
 * Whether a process that was identified by `ownOsProcess` has ended, as far as this process can know for certain: it is on
 * the same machine, and the process id is free or belongs to a process that was started at another time. False otherwise.
 */
export function hasEnded(osProcess: string): boolean {
  const own = identify(ownOsProcess())
  const other = identify(osProcess)
  if (own === undefined || other === undefined || other.machine !== own.machine) return false
  const startTime = startTimeOf(other.pid)
  return startTime !== undefined && startTime !== other.startTime
}

function identify(osProcess = '') {
  const [, pid, startTime, machine] = /^([1-9]\d*) (\d+) (.+)$/s.exec(osProcess) ?? []
  return machine === undefined ? undefined : { pid: Number(pid), startTime, machine }
}

/**
 * Containers on one host share the boot id, and clones of a virtual machine the numbers of the namespaces, too; those may
 * have different host names. Start times depend on the time namespace, which Linux has since 5.6.
 */
function readMachine(): string {
  const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
  const [processes, time] = [readlinkSync('/proc/self/ns/pid'), readTimeNamespace()]
  return [boot, processes, time, hostname()].join(' ')
}

function readTimeNamespace(): string {
  try {
    return readlinkSync('/proc/self/ns/time')
  } catch {
    return 'time'
  }
}

/** Null if no process has this id, undefined if its start time cannot be read. */
function startTimeOf(pid: number): string | null | undefined {
  try {
    // /proc may hide the processes of other users.
    process.kill(pid, 0)
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ESRCH') return null
  }
  try {
    return readStat(pid).startTime
  } catch {
    return undefined
  }
}

/** In clock ticks since the boot of the machine. The name, which is in parentheses, may have any characters. */
function readStat(pid: number | 'self') {
  const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  const startTime = fields[19]
  if (startTime === undefined) throw new Error('The start time is missing.')
  return { pid: Number.parseInt(text, 10), startTime }
}
