/** A request that waits for the answer of an exchange. */
export type WaitingRequest<Answer> = {
  readonly amount: number
  /** How many exchanges had nothing for it. */
  attempts: number
  /** Whether it was rejected before the answer. */
  abandoned: boolean
  resolve(answer: Answer): void
  reject(error: Error): void
}

/** An exchange with the database that is running, and the requests that it answers. */
export type RunningExchange<Exchange, Answer> = {
  readonly exchange: Exchange
  readonly sent: readonly WaitingRequest<Answer>[]
}

/** What this process has taken from a limit in the database, and the requests that wait for more. */
export abstract class Lease<Exchange, Grant, Answer> {
  readonly arrivals = new Arrivals()
  protected waiting: WaitingRequest<Answer>[] = []
  protected running: RunningExchange<Exchange, Answer> | undefined

  /** Asks the database for the amount, with the next exchange. */
  ask(amount: number): Promise<Answer> {
    return new Promise((resolve, reject) =>
      this.waiting.push({ amount, attempts: 0, abandoned: false, resolve, reject }),
    )
  }

  /** Rejects the requests that wait: what the running exchange grants them is returned. */
  abandon(error: Error): void {
    for (const request of [...this.waiting.splice(0), ...(this.running?.sent ?? [])]) {
      request.abandoned = true
      request.reject(error)
    }
  }

  /** Called at regular intervals; returns whether there is a reason for an exchange. */
  tick(): boolean {
    this.arrivals.tick()
    this.age()
    return this.isDue(true)
  }

  /** Begins an exchange, which `receive` or `fail` ends. Without `keep`, everything that is not used is returned. */
  begin(keep: boolean): Exchange {
    this.running = this.prepare(keep)
    return this.running.exchange
  }

  receive(grant: Grant): void {
    const { running } = this
    this.running = undefined
    if (running) this.apply(grant, running)
  }

  /** Nothing was exchanged. */
  fail(error: Error): void {
    const { running } = this
    this.running = undefined
    if (!running) return
    this.revert(running.exchange)
    for (const { reject } of running.sent) reject(error)
  }

  /** Whether nothing is held, owed or waited for. */
  isIdle(): boolean {
    return this.waiting.length === 0 && this.running === undefined
  }

  /** Whether there is a reason for an exchange; without `keep`, what is held and not used is one. */
  abstract isDue(keep: boolean): boolean
  /** Whether the exchange must not wait for the next tick. */
  abstract isUrgent(): boolean
  /** Called at each tick. */
  protected abstract age(): void
  protected abstract prepare(keep: boolean): RunningExchange<Exchange, Answer>
  protected abstract apply(grant: Grant, running: RunningExchange<Exchange, Answer>): void
  protected abstract revert(exchange: Exchange): void
}

/** A lease that has not been used for so many ticks is returned. */
export const idleTicks = 5

/**
 * Requests that are about to take their part of a lease, which the exchange that admits them leases as well. It is kept for
 * them for one or two ticks.
 */
class Arrivals {
  #pending = 0
  #recent = 0
  #earlier = 0

  get count(): number {
    return this.#pending + this.#recent + this.#earlier
  }

  /** A request waits for its admission. */
  add(): void {
    this.#pending++
  }

  /** The request is admitted and about to take its part, or it is rejected. */
  settle(admitted: boolean): void {
    this.#pending--
    if (admitted) this.#recent++
  }

  /** A request takes its part. */
  take(): void {
    if (this.#earlier > 0) this.#earlier--
    else if (this.#recent > 0) this.#recent--
  }

  tick(): void {
    this.#earlier = this.#recent
    this.#recent = 0
  }
}
