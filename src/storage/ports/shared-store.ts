import type { Processes } from './processes.ts'
import type { RunClaims } from './run-claims.ts'

/** What the processes of one database share. */
export type SharedStore = {
  readonly process: ProcessIdentity
  readonly processes: Processes
  readonly runs: RunClaims
}

/** This process among those that use the database. */
export type ProcessIdentity = {
  /** The id under which it has entered, and which the store writes to what it owns. */
  id(): string
  /** Replaces the id, after the process was removed; returns the new one, under which it has to enter again. */
  renew(): string
}
