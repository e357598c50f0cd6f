import type { Percentiles } from '../../src/cli/bench/load.ts'
import type { ProcessCounts } from './process-counts.ts'

/** How requests are sent: over busy connections for a time or up to a number, at a fixed rate, or as open streams. */
export type LoadShape =
  | { readonly type: 'closed'; readonly connections: number; readonly unitsPerRequest: number }
  | { readonly type: 'counted'; readonly connections: number; readonly requests: number }
  | { readonly type: 'steady'; readonly rate: number }
  | { readonly type: 'paced'; readonly streams: number; readonly chunks: number }

/** What one client process is to do. */
export type Job = {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  /** A request without one is a GET. */
  readonly body?: string
  /** What the last bytes of a valid reply contain. */
  readonly ending: string
  readonly load: LoadShape
  /** Milliseconds of the measurement; streams at a pace last as long as their chunks do. */
  readonly duration: number
  /** Milliseconds of the same work that are not measured. */
  readonly warmUp: number
  /** The process whose cost is measured; null for direct requests to the upstream. */
  readonly pid: number | null
  /** Whether its system calls are counted, which slows it down. */
  readonly syscalls: boolean
}

/** What a client process has measured; times in milliseconds, processor times in microseconds. */
export type Measured = {
  /** Processor time of a request or a chunk. */
  readonly cpu: number | null
  /** Latency of one caller who waits for each reply, or of requests at a fixed rate. */
  readonly latency: Percentiles | null
  /** Latency while all connections are busy. */
  readonly busyLatency: Percentiles | null
  readonly firstToken: Percentiles | null
  /** Between two chunks of a stream. */
  readonly gap: Percentiles | null
  /** Requests or chunks per second. */
  readonly rate: number
  /** Bytes that were resident at most. */
  readonly peak: number | null
  /** Bytes that are resident at the end. */
  readonly resident: number | null
  /** Bytes by which the resident memory grew for each stream that is open. */
  readonly perStream: number | null
  /** Bytes written to the disk for each request. */
  readonly written: number | null
  /** Events of the operating system for each request or chunk. */
  readonly counts: ProcessCounts | null
  readonly requests: number
}
