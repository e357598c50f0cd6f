import { nextTurn } from '../../lib/time.ts'

/** The requests that begin in one turn of the event loop: together they take some milliseconds. */
const maxBegun = 64
/** Of turns with fewer requests the end is not awaited, because that costs each of them a round of the loop. */
const minAwaited = 16

/**
 * Limits the requests that begin in one turn of the event loop. A client can send thousands of pipelined requests at once,
 * and Bun would serve all of them before it reads from any other connection. It closes a connection on which a request
 * follows one that waits.
 */
export class RequestTurns {
  #begun = 0

  /** Undefined for a request that may begin; otherwise a promise that resolves in a later turn. */
  enter(): Promise<void> | undefined {
    this.#begun += 1
    if (this.#begun === minAwaited) setImmediate(this.#endTurn)
    return this.#begun > maxBegun ? nextTurn() : undefined
  }

  readonly #endTurn = (): void => {
    this.#begun = 0
  }
}
