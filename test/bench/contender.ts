import type { Workload } from './workload.ts'

/** One of the programs that are compared. */
export type Contender = {
  readonly name: string
  /** Whether it has the interface of a gateway; any other program receives the requests of the provider. */
  readonly gateway: boolean
  /** The environment variable with the path of its executable; without it, the contender takes no part. */
  readonly variable?: string
  /** Whether it supports chat completions alone, and takes part only where it is named. */
  readonly chatOnly?: boolean
  /** Returns a sentence where it is not available on this machine. */
  start(place: Place): Promise<Running | string>
}

/** Where contenders find what they need. */
export type Place = {
  /** The address of the provider. */
  readonly upstream: string
  /** A folder of this start. */
  readonly folder: string
  /** A folder of the whole run, for what is downloaded. */
  readonly downloads: string
}

export type Running = {
  readonly url: string
  /** The process that the costs are of; null for the provider itself. */
  readonly pid: number | null
  headers(workload: Workload): Readonly<Record<string, string>>
  stop(): Promise<void>
}
