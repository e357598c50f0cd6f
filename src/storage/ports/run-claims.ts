import type { ResponseStatus } from './responses.ts'

/** A background run, by the organization and the id of its response. */
export type RunKey = { readonly organization: string; readonly id: string }

/** Divides the background runs among the processes of a database. Each unfinished run has one owner. */
export type RunClaims = {
  /**
   * Takes up to `limit` runs from other processes, oldest first, and resolves with their keys: queued ones of any process,
   * which has then lost them, and unfinished ones of processes that were removed.
   */
  claim(process: string, limit: number): Promise<readonly RunKey[]>
  /** Takes this queued run from whatever process has it; resolves with false if it is not queued, or missing. */
  claimQueued(process: string, run: RunKey): Promise<boolean>
  /** Asks the owner of an unfinished run to cancel it. */
  requestCancel(run: RunKey): Promise<void>
  /** The runs of this process that others have asked it to cancel. */
  cancelRequests(process: string): Promise<readonly RunKey[]>
  /** The runs of this process that are queued: one that it has queued and that is not here was taken by another process. */
  queued(process: string): Promise<readonly RunKey[]>
  /**
   * Reads the progress of runs of other processes for those who follow them: the pieces of each log from a position on, and the status.
   * A response that is missing is omitted.
   */
  progress(runs: readonly FollowedRun[]): Promise<readonly RunProgress[]>
}

/** `position`: that of the next piece. */
export type FollowedRun = RunKey & { readonly position: number }

export type RunProgress = RunKey & {
  readonly status: ResponseStatus
  /** Whether the owner of an unfinished run is alive. */
  readonly owned: boolean
  /** The new pieces in their order; a response that has finished has none, because its log is complete. */
  readonly pieces: readonly { readonly position: number; readonly entries: string }[]
}
