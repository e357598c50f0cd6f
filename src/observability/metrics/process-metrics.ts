import { readdirSync } from 'node:fs'
import type { ScrapedMetric } from './prometheus.ts'

/** The metrics of the process, with the names that all Prometheus client libraries use. */
export const processMetrics: readonly ScrapedMetric[] = [
  {
    name: 'process_cpu_seconds_total',
    help: 'CPU time used by the process, in seconds.',
    type: 'counter',
    read: () => [['', cpuSeconds()]],
  },
  {
    name: 'process_resident_memory_bytes',
    help: 'Resident memory of the process, in bytes.',
    type: 'gauge',
    read: () => [['', process.memoryUsage.rss()]],
  },
  {
    name: 'process_start_time_seconds',
    help: 'Start time of the process, in Unix seconds.',
    type: 'gauge',
    aggregation: 'min',
    read: () => [['', performance.timeOrigin / 1000]],
  },
  {
    name: 'process_open_fds',
    help: 'Open file descriptors.',
    type: 'gauge',
    read: readOpenFiles,
  },
]

function cpuSeconds(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1e6
}

/** Returns no value on systems other than Linux. */
function readOpenFiles(): readonly [string, number][] {
  try {
    return [['', readdirSync('/proc/self/fd').length]]
  } catch {
    return []
  }
}
