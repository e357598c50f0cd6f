import type { Organization } from '../../domain/accounting/organization.ts'
import { rateLimited } from '../../lib/errors/http-errors.ts'
import { withTimeout } from '../../lib/time.ts'

/** Characters. A shorter body takes a fraction of a millisecond. */
export const minTurnBody = 16 * 1024

const maxWaitMs = 10_000

/**
 * Lets one body be processed in a turn of the event loop, of each organization in its turn: many connections at once would
 * otherwise hold up every other request until the last of their bodies is parsed.
 */
export class BodyTurns {
  /** The waiting bodies of each organization; the first line is the next. */
  readonly #lines = new Map<string, (() => void)[]>()
  #isRunning = false

  /** Waits for the turn of a body; rejects with the 429 if it does not come. */
  enter({ id }: Organization): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const line = this.#lines.get(id)
    if (line) line.push(resolve)
    else this.#lines.set(id, [resolve])
    if (!this.#isRunning) this.#schedule()
    return withTimeout(promise, maxWaitMs, tooManyBodies)
  }

  #schedule(): void {
    this.#isRunning = true
    setImmediate(this.#next)
  }

  readonly #next = (): void => {
    this.#isRunning = false
    for (const [id, line] of this.#lines) {
      this.#lines.delete(id)
      line.shift()?.()
      if (line.length > 0) this.#lines.set(id, line)
      break
    }
    if (this.#lines.size > 0) this.#schedule()
  }
}

function tooManyBodies(): Error {
  const message = 'Rate limit exceeded: too many large request bodies at once. Try again in 1 second.'
  return rateLimited('requests', message, 1000)
}
