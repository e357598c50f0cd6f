import { readdirSync, readFileSync, readlinkSync } from 'node:fs'

/** The process that has a connection from this port of loopback; undefined once that is closed, and where there is no /proc. */
export function senderOf(port: number): number | undefined {
  const socket = `socket:[${inodeOf(port)}]`
  // The youngest first: those of the test.
  const pids = namesIn('/proc').map(Number).filter(Number.isInteger)
  return pids
    .toSorted((one, other) => other - one)
    .find((pid) => namesIn(`/proc/${pid}/fd`).some((fd) => linkOf(`/proc/${pid}/fd/${fd}`) === socket))
}

/** From a table with the columns number, local address, remote address, state, queues, timer, retries, user, timeout, inode. */
function inodeOf(port: number): string | undefined {
  const local = `0100007F:${port.toString(16).toUpperCase().padStart(4, '0')}`
  const lines = attempt(() => readFileSync('/proc/net/tcp', 'utf8').split('\n')) ?? []
  const columns = lines.map((line) => line.trim().split(/\s+/))
  return columns.find(([, address]) => address === local)?.[9]
}

function namesIn(folder: string): readonly string[] {
  return attempt(() => readdirSync(folder)) ?? []
}

function linkOf(path: string): string | undefined {
  return attempt(() => readlinkSync(path))
}

/** What belongs to a process disappears with it, or belongs to another user. */
function attempt<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}
