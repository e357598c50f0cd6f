/**
 * The processes that use the database. Whether a process is alive is judged by its beats, not by clocks: the others watch
 * whether its count changes, and remove it if it does not. Those on the same machine see when it has ended, and need not wait.
 * Removing decides: from then on, what the process has left open is settled by the others, and a process that finds itself
 * removed ends its calls and enters again.
 */
export type Processes = {
  /** Adds this process; with its `ownOsProcess`, the others on its machine see when it has ended. */
  enter(id: string, osProcess?: string): Promise<void>
  /** Counts a sign of life; resolves with false if the process was removed. */
  beat(id: string): Promise<boolean>
  list(): Promise<readonly ListedProcess[]>
  /** Removes a process whose count is still this one, with the slots that it has; resolves with false for any other. */
  remove(process: ProcessBeat): Promise<boolean>
  /** Removes this process and its slots at its regular end. */
  leave(id: string): Promise<void>
}

export type ProcessBeat = { readonly id: string; readonly beat: number }

export type ListedProcess = ProcessBeat & {
  /** Null if the process has entered without. */
  readonly osProcess: string | null
}
