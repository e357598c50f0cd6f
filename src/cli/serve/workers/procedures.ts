import type { LoadedSettings } from '../../../config/load.ts'
import type { LiveEvent } from '../../../observability/live-event.ts'
import type { MetricSnapshot } from '../../../observability/metrics/snapshot.ts'
import type { Terminal } from '../../context.ts'
import type { BannerFacts } from '../banner.ts'

/** The input of a worker. The settings may have secrets, which no argument or file would keep. */
export type WorkerInput = {
  /** Counts from 1. */
  readonly number: number
  /** The settings, with the port that all workers share. */
  readonly loaded: LoadedSettings
  readonly drainMs: number
  readonly format: OutputFormat
}

/** How a worker formats its lines: its outputs are pipes to the supervisor, which may have a terminal. */
export type OutputFormat = {
  /** The `--json` flag. */
  readonly json: boolean
  readonly requests: TerminalFormat | undefined
  readonly log: TerminalFormat | undefined
  /** Whether both are one terminal. */
  readonly shared: boolean
}

/** How a worker formats the lines for a terminal. */
export type TerminalFormat = Pick<Terminal, 'color'>

/** The report of a worker that has begun to serve. */
type StartedWorker = {
  readonly facts: BannerFacts
  /** Its id in the database. */
  readonly process: string
}

/** The metrics of one process. */
export type ProcessMetrics = readonly MetricSnapshot[]

/** The procedures of a worker. */
export type WorkerProcedures = {
  /** Opens the database and listens. */
  start(input: WorkerInput): Promise<StartedWorker>
  /** Applies other settings, or rejects and changes nothing. */
  reload(loaded: LoadedSettings): Promise<void>
  /** See `createRuntimeProcess`. One of the workers is enough. */
  recordReload(changed: readonly string[]): Promise<void>
  metrics(): Promise<ProcessMetrics>
  /** Returns the live requests of the worker since the last call, for a reader of another worker. */
  liveEvents(reader: string): Promise<readonly LiveEvent[]>
  /** Another worker with this id in the database has ended. */
  evict(id: string): Promise<void>
  /** Rejects new calls, waits for open ones, and ends. */
  drain(): void
  /** Ends now, even if calls are open. */
  abort(): void
}

/** The procedures of the supervisor. */
export type SupervisorProcedures = {
  /** Returns the metrics of all other processes; the worker sends its own, which are kept in case it ends. */
  otherMetrics(own: ProcessMetrics): Promise<readonly ProcessMetrics[]>
  /** Returns the live requests of all other workers since the last call, for a reader of this one. */
  otherLiveEvents(reader: string): Promise<readonly LiveEvent[]>
}

/** The name of the hidden command of a worker. */
export const workerCommand = 'serve-worker'
