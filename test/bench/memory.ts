import { readFileSync, writeFileSync } from 'node:fs'

/** Bytes of a process that are in memory now. */
export function residentOf(pid: number): number {
  return statusOf(pid, 'VmRSS')
}

/** The most that it had in memory since the peak was forgotten. */
export function peakOf(pid: number): number {
  return statusOf(pid, 'VmHWM')
}

export function forgetPeak(pid: number): void {
  writeFileSync(`/proc/${pid}/clear_refs`, '5')
}

/** Bytes that it has caused to be written to a disk. */
export function writtenBy(pid: number): number {
  return Number(/^write_bytes: (\d+)/m.exec(readFileSync(`/proc/${pid}/io`, 'utf8'))?.[1] ?? 0)
}

function statusOf(pid: number, name: string): number {
  const text = readFileSync(`/proc/${pid}/status`, 'utf8')
  return Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(text)?.[1] ?? 0) * 1024
}
