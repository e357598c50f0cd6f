import { gatewayStopping, serviceUnavailable } from '../../../lib/errors/errors.ts'
import { settleWithin } from '../../../lib/time.ts'
import { callerTimeoutMs } from '../../ports/health.ts'
import type { ProcessIdentity } from '../../common/process-identity.ts'
import { databaseUnavailable } from '../postgres-errors.ts'
import type { Lease } from './lease.ts'
import type { RenewLeases } from './lease-store.ts'

/** The leases of an organization, a project or a key, which are renewed together. */
export type OwnerLeases = readonly Lease[]

/** Between two ticks. */
const tickMs = 100
/** For everything to be returned when the process stops. */
const returnTimeoutMs = 5000
/** Requests that wait for their limits. */
const maxWaiting = 10_000
/** A renewal that takes 80 ms begins 5 ms later, so that requests which come at the same time need no second one. */
const batchDelayPart = 1 / 16
const maxBatchDelayMs = 5
/** The owners of one round. */
const maxOwners = 200

/**
 * Renews the leases of this process. One round runs at a time, for all owners that have a reason for it: the requests that
 * arrive meanwhile share the next one. A round that takes too long rejects its requests, and still runs until its outcome is
 * known.
 */
export class LeaseRounds {
  readonly #renewLeases: RenewLeases
  readonly #identity: Pick<ProcessIdentity, 'id'>
  readonly #timeoutMs: number
  /** Those of the next round, and those that hold or owe something. */
  readonly #due = new Set<OwnerLeases>()
  readonly #active = new Set<OwnerLeases>()
  #process: string
  #waiting = 0
  /** How long the last renewal took, and before the first one, how long it takes at a moderate distance. */
  #renewalMs = 16
  #running: Promise<void> | undefined
  /** Whether the round that runs has taken too long. */
  #overdue = false
  #timer: Timer | undefined
  #stopped = false

  constructor(renewLeases: RenewLeases, identity: Pick<ProcessIdentity, 'id'>, timeoutMs = callerTimeoutMs) {
    this.#renewLeases = renewLeases
    this.#identity = identity
    this.#timeoutMs = timeoutMs
    this.#process = identity.id()
  }

  /** Takes the amount and returns 0, or the milliseconds to wait. A promise rejects with 503 if the database is too slow. */
  take(lease: Lease, amount: number, leases: OwnerLeases): number | Promise<number> {
    const waitMs = lease.take(amount)
    if (waitMs === undefined) return this.#ask(lease, amount, leases)
    if (waitMs === 0) this.#changed(lease, leases)
    return waitMs
  }

  /** Takes the amount even if it is not there; a negative amount is given back. */
  charge(lease: Lease, amount: number, leases: OwnerLeases): void {
    lease.charge(amount)
    this.#changed(lease, leases)
  }

  /** Returns everything to the database if that is possible in time; rejects later requests. */
  async stop(): Promise<void> {
    this.#stopped = true
    clearTimeout(this.#timer)
    await settleWithin(this.#returnAll(), returnTimeoutMs)
  }

  async #ask(lease: Lease, amount: number, leases: OwnerLeases): Promise<number> {
    if (this.#stopped) throw gatewayStopping()
    if (this.#overdue) throw databaseUnavailable(undefined)
    if (this.#waiting >= maxWaiting)
      throw serviceUnavailable('Too many requests are waiting for their rate limits. Try again later.')
    this.#waiting++
    try {
      const waitMs = lease.ask(amount)
      this.#start(leases)
      return await waitMs
    } finally {
      this.#waiting--
    }
  }

  #changed(lease: Lease, leases: OwnerLeases): void {
    if (lease.isUrgent()) this.#start(leases)
    else this.#watch(leases)
  }

  /** Starts a round for the leases, or adds them to the next one. */
  #start(leases: OwnerLeases): void {
    this.#watch(leases)
    this.#due.add(leases)
    if (!this.#stopped) this.#running ??= this.#run()
  }

  /** Includes the leases in the ticks until they are idle. */
  #watch(leases: OwnerLeases): void {
    this.#active.add(leases)
    if (!this.#stopped) this.#timer ??= setTimeout(this.#tick, tickMs).unref()
  }

  readonly #tick = (): void => {
    this.#timer = undefined
    if (!this.#running) this.#forgetIfEvicted()
    for (const leases of this.#active) {
      for (const lease of leases) lease.tick()
      if (leases.some((lease) => lease.isDue())) this.#start(leases)
      else if (leases.every((lease) => lease.isIdle())) this.#active.delete(leases)
      else this.#watch(leases)
    }
  }

  async #run(): Promise<void> {
    while (this.#due.size > 0) {
      // Other requests of this turn of the event loop take part; with a distant database, those of a fraction of a renewal.
      const batchDelayMs = Math.min(maxBatchDelayMs, this.#renewalMs * batchDelayPart)
      await (batchDelayMs < 1 ? Promise.resolve() : Bun.sleep(batchDelayMs))
      await this.#renew()
    }
    this.#running = undefined
  }

  async #returnAll(): Promise<void> {
    await this.#running
    for (const leases of this.#active) {
      for (const lease of leases) lease.retire()
      this.#due.add(leases)
    }
    while (this.#due.size > 0) await this.#renew()
  }

  async #renew(): Promise<void> {
    this.#forgetIfEvicted()
    const owners = [...this.#due].slice(0, maxOwners)
    for (const leases of owners) this.#due.delete(leases)
    const leases = owners.filter((leases) => leases.some((lease) => lease.isDue())).flat()
    if (leases.length > 0) await this.#settle(leases)
  }

  async #settle(leases: readonly Lease[]): Promise<void> {
    const startedAt = performance.now()
    const deadline = setTimeout(this.#abandon, this.#timeoutMs)
    try {
      const renewals = leases.map((lease) => lease.begin())
      const grants = await this.#renewLeases(this.#process, renewals)
      this.#renewalMs = performance.now() - startedAt
      for (const [index, grant] of grants.entries()) leases[index]?.receive(grant)
    } catch (error) {
      for (const lease of leases) lease.fail(error)
    } finally {
      clearTimeout(deadline)
      this.#overdue = false
    }
  }

  /** Rejects what waits for this round or for a later one. */
  readonly #abandon = (): void => {
    this.#overdue = true
    for (const leases of this.#active)
      for (const lease of leases) lease.abandon(databaseUnavailable(undefined))
  }

  /** A process that was evicted and has registered again has no slots under its new id. */
  #forgetIfEvicted(): void {
    const process = this.#identity.id()
    if (process === this.#process) return
    this.#process = process
    for (const leases of this.#active) for (const lease of leases) lease.forget()
  }
}
