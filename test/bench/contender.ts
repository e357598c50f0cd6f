import type { Workload } from './workloads.ts'

/** One of the programs that are held beside each other. */
export type Contender = {
  readonly name: string
  /** Whether it has the interface of a gateway; any other program receives the requests of the provider. */
  readonly gateway: boolean
  /** A sentence where it cannot be had on this machine. */
  start(place: Place): Promise<Running | string>
}

/** Where contenders find what they need. */
export type Place = {
  /** The address of the provider. */
  readonly upstream: string
  /** A folder of this run. */
  readonly folder: string
}

export type Running = {
  readonly url: string
  /** The process that the costs are of; null for the provider itself. */
  readonly pid: number | null
  headers(workload: Workload): Readonly<Record<string, string>>
  stop(): Promise<void>
}
