import { nextTurn } from '../../lib/time.ts'

/** The requests that begin in one turn of the event loop: together they take some milliseconds. */
const maxBegun = 64

/**
 * Limits the requests that begin in one turn of the event loop. A client can send thousands of pipelined requests at once,
 * and Bun would serve all of them before it reads from any other connection. It closes a connection on which a request
 * follows one that waits.
 */
export class RequestTurns {
  #begun = 0

  /** Undefined for a request that may begin; otherwise a promise that resolves in a later turn. */
  enter(): Promise<void> | undefined {
    if (this.#begun === 0) setImmediate(this.#endTurn)
    this.#begun += 1
    return this.#begun > maxBegun ? nextTurn() : undefined
  }

  readonly #endTurn = (): void => {
    this.#begun = 0
  }
}
