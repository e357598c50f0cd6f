import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { waitUntil } from '../../../support/billing-database.ts'
import { createMigratedDatabase } from '../../../support/postgres/migrated-database.ts'
import { hasPostgres, sharedPostgres } from '../../../support/postgres/server.ts'
import { startWeir, type WeirOptions, type WeirProcess } from './weir-process.ts'

/** Whether this machine can run several workers. */
export const canRunWorkers = process.platform === 'linux' && hasPostgres

/** `weir serve --workers`, with its workers. */
export type WeirWorkers = WeirProcess & {
  /** The folder of the settings and the data. */
  readonly folder: string
  /** The URL of the database. */
  readonly database: string
  /** The process ids of the workers that run now. */
  workers(): readonly number[]
  /** The lines of the request log. */
  requestLines(): readonly string[]
  /** The value of a series of `/metrics`; 0 if it has none. */
  metric(series: string): Promise<number>
}

/** Starts it with so many workers on an empty database, or on this one; all of them end with the scope. */
export async function startWorkers(
  count: number,
  options: WeirOptions,
  existing?: string,
): Promise<WeirWorkers> {
  const database = existing ?? (await createMigratedDatabase())
  const weir = await startWeir({
    ...options,
    settings: { ...options.settings, workers: count },
    environment: { ...options.environment, WEIR_DATABASE: database },
  })
  const started = childrenOf(weir.pid)
  return {
    ...weir,
    folder: options.folder,
    database,
    workers: () => childrenOf(weir.pid),
    requestLines: () =>
      weir
        .output()
        .split('\n')
        .filter((line) => line.startsWith('{')),
    metric: async (series) => valueOf(series, await (await weir.fetch('/metrics')).text()),
    async [Symbol.asyncDispose]() {
      const workers = new Set([...started, ...childrenOf(weir.pid)])
      await weir[Symbol.asyncDispose]()
      for (const pid of workers) if (isRunning(pid)) process.kill(pid, 'SIGKILL')
      await waitUntil(() => ![...workers].some(isRunning), 'all workers have ended')
      if (existing === undefined) await (await sharedPostgres()).dropDatabase(database)
    },
  }
}

/** True while the process runs; one that ended and was not waited for does not count. */
export function isRunning(pid: number): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
  } catch {
    return false
  }
}

/** The number of connections that a process has to a port of loopback. */
export function connectionsTo(port: number, pid: number): number {
  const remote = `0100007F:${port.toString(16).toUpperCase().padStart(4, '0')}`
  const columns = readFileSync('/proc/net/tcp', 'utf8')
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
  const sockets = new Set(
    columns.filter(([, , address]) => address === remote).map((line) => `socket:[${line[9]}]`),
  )
  return readdirSync(`/proc/${pid}/fd`).filter((fd) => sockets.has(linkOf(`/proc/${pid}/fd/${fd}`))).length
}

function linkOf(path: string): string {
  try {
    return readlinkSync(path)
  } catch {
    // It was closed meanwhile.
    return ''
  }
}

/** The processes that this one has started and that run. */
export function childrenOf(pid: number): readonly number[] {
  try {
    const text = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')
    return text.split(' ').filter(Boolean).map(Number).filter(isRunning)
  } catch {
    return []
  }
}

function valueOf(series: string, metrics: string): number {
  const line = metrics.split('\n').find((line) => line.startsWith(`${series} `))
  return Number(line?.slice(series.length + 1) ?? 0)
}
