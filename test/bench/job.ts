import type { Percentiles } from '../../src/cli/bench/statistics.ts'

/** How requests are sent: over connections that are never idle, at a fixed rate, or as concurrent streams. */
export type LoadShape =
  | { readonly type: 'closed'; readonly connections: number; readonly unitsPerRequest: number }
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
  /** Milliseconds of each part of the measurement; that of streams at a pace goes by their chunks. */
  readonly duration: number
  /** Milliseconds of the same work that are not measured. */
  readonly warmUp: number
  /** The process whose cost is measured; none for direct requests to the upstream. */
  readonly pid: number | null
}

/** What a client process has measured; times in milliseconds, processor times in microseconds. */
export type Measured = {
  /** Processor time of a request or a chunk. */
  readonly cpu: number | null
  readonly latency: Percentiles | null
  readonly firstToken: Percentiles | null
  /** Between two chunks of a stream. */
  readonly gap: Percentiles | null
  /** Requests or chunks in a second. */
  readonly rate: number
  /** In bytes: resident at most, and written to the disk for each request. */
  readonly peak: number | null
  readonly written: number | null
  readonly requests: number
}
