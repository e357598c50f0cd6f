import { readdirSync, readFileSync, readlinkSync } from 'node:fs'

/** The kernel lists connections that change meanwhile incompletely. */
const attempts = 3

/** The process that has a connection between these ports of loopback; undefined once that is closed, and where there is no /proc. */
export function senderOf(port: number, serverPort: number): number | undefined {
  for (let count = 0; count < attempts; count++) {
    const inode = inodeOf(port, serverPort)
    const sender = inode === undefined ? undefined : ownerOf(`socket:[${inode}]`)
    if (sender !== undefined) return sender
  }
  return undefined
}

/** From a table with the columns number, local address, remote address, state, queues, timer, retries, user, timeout, inode. */
function inodeOf(port: number, serverPort: number): string | undefined {
  const lines = attempt(() => readFileSync('/proc/net/tcp', 'utf8').split('\n')) ?? []
  const columns = lines.map((line) => line.trim().split(/\s+/))
  const isIt = ([, local, remote]: readonly string[]) =>
    local === addressOf(port) && remote === addressOf(serverPort)
  return columns.find(isIt)?.[9]
}

function addressOf(port: number): string {
  return `0100007F:${port.toString(16).toUpperCase().padStart(4, '0')}`
}

function ownerOf(socket: string): number | undefined {
  const pids = namesIn('/proc').map(Number).filter(Number.isInteger)
  // The youngest first: those of the test.
  return pids
    .toSorted((one, other) => other - one)
    .find((pid) => namesIn(`/proc/${pid}/fd`).some((fd) => linkOf(`/proc/${pid}/fd/${fd}`) === socket))
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
