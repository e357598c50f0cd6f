import type { ResponseStatus, UnfinishedRun } from './responses.ts'

/** A background run, by the organization and the id of its response. */
export type RunKey = { readonly organization: string; readonly id: string }

/**
 * Divides the background runs among the processes of a database. Each unfinished run has one owner, which alone may start
 * it and append to its log. Every operation can be repeated after one whose outcome is unknown.
 */
export type RunClaims = {
  /**
   * Takes up to `limit` queued runs from other processes, which have then lost them. Organizations take turns, and of each
   * the oldest runs come first; those of `except` have none.
   */
  claimQueued(process: string, limit: number, except: readonly string[]): Promise<readonly RunKey[]>
  /** Makes unfinished runs without an owner, which a process that was alone has left, runs of a removed process. */
  adopt(): Promise<void>
  /**
   * Takes up to `limit` unfinished runs, with their reservations, from processes that were removed, oldest first. Those in
   * progress cannot be started again, even by a process that still has them in its queue.
   */
  claimAbandoned(process: string, limit: number): Promise<readonly OwnedRun[]>
  /**
   * Takes a queued run from its owner to end it, so that no process starts it. Resolves with false if that is too late, or
   * another process has done so.
   */
  withdraw(process: string, run: RunKey): Promise<boolean>
  /** Reads those of the runs that this process owns. */
  read(process: string, runs: readonly RunKey[]): Promise<readonly ClaimedRun[]>
  /**
   * Sets a run of this process to in progress, also if the process has done so before. Resolves with false if it has lost
   * the run, if the run was withdrawn or is missing, or if the process was removed.
   */
  start(process: string, run: RunKey): Promise<boolean>
  /**
   * Appends pieces to the logs of runs of this process that are in progress, and resolves with their keys. One that is
   * missing was not appended: its run is lost, or locked at this moment.
   */
  append(process: string, pieces: readonly LogPiece[]): Promise<readonly RunKey[]>
  /** Leaves the reservation of a run of this process to `Ledger.recover`, which settles it once the run has ended. */
  leaveReservation(process: string, run: RunKey): Promise<void>
  /** Asks the owner of an unfinished run to cancel it. */
  requestCancel(run: RunKey): Promise<void>
  /** The runs that this process owns, or those of them that it is to cancel. */
  owned(process: string, only?: 'cancel-requested'): Promise<readonly OwnedRun[]>
  /** The number of queued runs of an organization in all processes. */
  countQueued(organization: string): Promise<number>
  /**
   * Reads the progress of runs for those who follow them: the pieces of each log from a position on, and the status. A
   * response that is missing is omitted.
   */
  progress(runs: readonly FollowedRun[]): Promise<readonly RunProgress[]>
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
  /** Whether the owner of an unfinished run is alive. */
  readonly owned: boolean
  /** The next pieces, at most `maxPieces`; a response that has finished has none, because its log is complete. */
  readonly pieces: readonly string[]
}

/** The most pieces of one run that are read at once. */
export const maxPieces = 500
