import { readdirSync } from 'node:fs'
import type { Reading } from './reading.ts'

/** What a process says of itself, by the names that every Prometheus library has for it. */
export const processReadings: readonly Reading[] = [
  {
    name: 'process_cpu_seconds_total',
    help: 'Time that the process has spent on the processors.',
    type: 'counter',
    read: () => [['', cpuSeconds()]],
  },
  {
    name: 'process_resident_memory_bytes',
    help: 'Memory that the process holds.',
    type: 'gauge',
    read: () => [['', process.memoryUsage.rss()]],
  },
  {
    name: 'process_start_time_seconds',
    help: 'When the process began, in Unix seconds.',
    type: 'gauge',
    read: () => [['', performance.timeOrigin / 1000]],
  },
  {
    name: 'process_open_fds',
    help: 'Files and connections that are open.',
    type: 'gauge',
    read: openFiles,
  },
]

function cpuSeconds(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1e6
}

/** Only Linux tells. */
function openFiles(): readonly [string, number][] {
  try {
    return [['', readdirSync('/proc/self/fd').length]]
  } catch {
    return []
  }
}
