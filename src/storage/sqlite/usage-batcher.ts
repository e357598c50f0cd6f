import type { Outcome, RequestMetadata } from '../../domain/accounting/request-metadata.ts'

/** A request and how it ended. */
export type FinishedRequest = { readonly request: RequestMetadata; readonly outcome: Outcome }

/** Milliseconds: what a killed process may lose, and how old the newest row of another process's report may be. */
const batchDelayMs = 50
/** So many rows delay other requests by half a millisecond; twenty times as many cost no less each. */
const maxBatchWeight = 32
/** Characters of content that count as a row, so that one transaction inserts little more than a megabyte of it. */
const charactersOfRow = 32 * 1024

/**
 * Collects the usage of requests that have reserved nothing: no caller is promised a row, and a transaction costs more than
 * ten of them. `write` writes them in one transaction; `onFailed` receives each row of one that failed.
 */
export class UsageBatcher {
  readonly #write: (rows: readonly FinishedRequest[]) => Promise<unknown>
  readonly #onFailed: (row: FinishedRequest) => void
  #rows: FinishedRequest[] = []
  /** In rows without content. */
  #weight = 0
  #timer: Timer | undefined
  #written: Promise<unknown> = Promise.resolve()

  constructor(
    write: (rows: readonly FinishedRequest[]) => Promise<unknown>,
    onFailed: (row: FinishedRequest) => void,
  ) {
    this.#write = write
    this.#onFailed = onFailed
  }

  add(row: FinishedRequest): void {
    this.#rows.push(row)
    this.#weight += 1 + (row.outcome.content?.length ?? 0) / charactersOfRow
    if (this.#weight >= maxBatchWeight) void this.flush()
    else this.#timer ??= setTimeout(() => void this.flush(), batchDelayMs)
  }

  /** Resolves when all rows that were added are written, or have failed. */
  flush(): Promise<unknown> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const rows = this.#rows
    if (rows.length === 0) return this.#written
    this.#rows = []
    this.#weight = 0
    const written = this.#write(rows).catch(() => rows.forEach(this.#onFailed))
    this.#written = Promise.all([this.#written, written])
    return this.#written
  }
}
