import type { ResponseStatus, UnfinishedStatus } from './responses.ts'

/** A background run, by the organization and the id of its response. */
export type RunKey = { readonly organization: string; readonly id: string }

/**
 * The unfinished background runs, divided among the processes of the database. Each run has one owner, which alone may start
 * it and append to its log. Every operation can be repeated after one whose outcome is unknown. `owner` is the id of this
 * process, in `Peers`, at the time when it took the runs.
 */
export type RunStore = {
  /**
   * Takes up to `limit` queued runs from other processes, which have then lost them. Organizations take turns, and of each
   * the oldest runs come first; those of `except` have none.
   */
  claimQueued(owner: string, limit: number, except: readonly string[]): Promise<readonly RunKey[]>
  /**
   * Takes up to `limit` unfinished runs, with their reservations, from processes that were evicted or have ended, oldest
   * first. Those in progress cannot be started again, even by a process that still has them in its queue.
   */
  claimAbandoned(owner: string, limit: number): Promise<readonly OwnedRun[]>
  /**
   * Takes a queued run from its owner to end it, so that no process starts it. Resolves with false if that is too late, or
   * another process has done so.
   */
  withdraw(owner: string, run: RunKey): Promise<boolean>
  /** Reads those of the runs that this process owns. */
  read(owner: string, runs: readonly RunKey[]): Promise<readonly ClaimedRun[]>
  /**
   * Sets a run of this process to in progress, also if the process has done so before. Resolves with false if it has lost
   * the run, if the run was withdrawn or is missing, or if the process was evicted.
   */
  start(owner: string, run: RunKey): Promise<boolean>
  /**
   * Appends pieces to the logs of runs of this process that are in progress, and resolves with their keys. One that is
   * missing was not appended: its run is lost, or locked at this moment.
   */
  append(owner: string, pieces: readonly LogPiece[]): Promise<readonly RunKey[]>
  /** Leaves the reservation of a run of this process to `Ledger.recover`, which settles it once the run has ended. */
  leaveReservation(owner: string, run: RunKey): Promise<void>
  /** Asks the owner of an unfinished run to cancel it. */
  requestCancel(run: RunKey): Promise<void>
  /** The runs that this process owns, or those of them that it is to cancel. */
  owned(owner: string, only?: 'cancel-requested'): Promise<readonly OwnedRun[]>
  /** The number of queued runs of an organization in all processes. */
  countQueued(organization: string): Promise<number>
  /**
   * Reads the progress of runs for those who follow them: the pieces of each log from a position on, and the status. A
   * response that is missing is omitted.
   */
  progress(runs: readonly FollowedRun[]): Promise<readonly RunProgress[]>
}

/** A stored response whose run has not finished. */
export type UnfinishedRun = {
  readonly id: string
  readonly organization: string
  readonly status: UnfinishedStatus
  /** JSON text, which may be damaged: one damaged row must not keep the others from being read. */
  readonly head: string
  /** The stored request as JSON text. */
  readonly run: string
  /** The events so far, with the pieces joined. */
  readonly log: string
}

/** An unfinished run of the process that reads it. */
export type ClaimedRun = UnfinishedRun & { readonly cancelRequested: boolean }

export type OwnedRun = RunKey & { readonly status: ResponseStatus }

/** A piece of a log at its position. */
export type LogPiece = RunKey & { readonly position: number; readonly entries: string }

/** `position`: that of the next piece. */
export type FollowedRun = RunKey & { readonly position: number }

export type RunProgress = RunKey & {
  readonly status: ResponseStatus
  /** The next pieces, at most `maxPieces`; a response that has finished has none, because its log is complete. */
  readonly pieces: readonly string[]
}

/** The most pieces of one run that are read at once. */
export const maxPieces = 500
