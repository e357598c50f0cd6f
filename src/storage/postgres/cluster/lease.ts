/** A request that waits for the answer of a renewal. */
export type WaitingRequest<Answer> = {
  readonly amount: number
  /** How many renewals had nothing for it. */
  attempts: number
  /** Whether it was rejected before the answer. */
  abandoned: boolean
  resolve(answer: Answer): void
  reject(error: Error): void
}

/** A renewal that is running, and the requests that it answers. */
export type RunningRenewal<Renewal, Answer> = {
  readonly renewal: Renewal
  readonly sent: readonly WaitingRequest<Answer>[]
}

/** The share of a limit that this process has taken, and the requests that wait for more. */
export abstract class Lease<Renewal, Grant, Answer> {
  readonly arrivals = new Arrivals()
  protected waiting: WaitingRequest<Answer>[] = []
  protected running: RunningRenewal<Renewal, Answer> | undefined

  /** Asks the database for the amount, with the next renewal. */
  ask(amount: number): Promise<Answer> {
    return new Promise((resolve, reject) =>
      this.waiting.push({ amount, attempts: 0, abandoned: false, resolve, reject }),
    )
  }

  /** Rejects the requests that wait: what the running renewal grants them is returned. */
  abandon(error: Error): void {
    for (const request of [...this.waiting.splice(0), ...(this.running?.sent ?? [])]) {
      request.abandoned = true
      request.reject(error)
    }
  }

  /** Called at regular intervals; returns whether there is a reason for a renewal. */
  tick(): boolean {
    this.arrivals.tick()
    this.age()
    return this.isDue(true)
  }

  /** Begins a renewal, which `receive` or `fail` ends. Without `keep`, everything that is not used is returned. */
  begin(keep: boolean): Renewal {
    this.running = this.prepare(keep)
    return this.running.renewal
  }

  receive(grant: Grant): void {
    const { running } = this
    this.running = undefined
    if (running) this.apply(grant, running)
  }

  /** Nothing was renewed. */
  fail(error: Error): void {
    const { running } = this
    this.running = undefined
    if (!running) return
    this.revert(running.renewal)
    for (const { reject } of running.sent) reject(error)
  }

  /** Whether nothing is held, owed or waited for. */
  isIdle(): boolean {
    return this.waiting.length === 0 && this.running === undefined
  }

  /** Whether there is a reason for a renewal; without `keep`, what is held and not used is one. */
  abstract isDue(keep: boolean): boolean
  /** Whether the renewal must not wait for the next tick. */
  abstract isUrgent(): boolean
  /** Called at each tick. */
  protected abstract age(): void
  protected abstract prepare(keep: boolean): RunningRenewal<Renewal, Answer>
  protected abstract apply(grant: Grant, running: RunningRenewal<Renewal, Answer>): void
  protected abstract revert(renewal: Renewal): void
}

/** A lease that has not been used for so many ticks is returned. */
export const idleTicks = 5

/**
 * Requests that are about to take their part of a lease, which the renewal that admits them leases as well. It is kept for
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
