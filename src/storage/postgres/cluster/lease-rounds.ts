import { gatewayStopping, serviceUnavailable } from '../../../lib/errors/errors.ts'
import { settleWithin } from '../../../lib/time.ts'
import { callerTimeoutMs } from '../../ports/health.ts'
import type { ProcessIdentity } from '../../common/process-identity.ts'
import type { RenewLeases } from './lease-store.ts'
import type { LeasedBucket } from './leased-bucket.ts'
import type { LeasedSlots } from './leased-slots.ts'

/** The leases of an organization. */
export type OrganizationLeases = {
  readonly buckets: readonly LeasedBucket[]
  readonly slots: readonly LeasedSlots[]
}

/** Between two ticks. */
const tickMs = 100
/** For everything to be returned when the process stops. */
const returnTimeoutMs = 5000
/** Requests that wait for their limits. */
const maxWaiting = 10_000
/** A renewal that takes 80 ms begins 5 ms later, so that requests which come at the same time need no second one. */
const gatheredPart = 1 / 16
const maxGatherMs = 5
/** The organizations of one round. */
const maxOrganizations = 200

/**
 * Renews the leases of this process. One round runs at a time, for all organizations that have a reason for it: the requests
 * that arrive meanwhile share the next one. A round that takes too long rejects its requests, and still runs until its
 * outcome is known.
 */
export class LeaseRounds {
  readonly #renewLeases: RenewLeases
  readonly #identity: Pick<ProcessIdentity, 'id'>
  readonly #timeoutMs: number
  /** Those of the next round, and those that hold or owe something. */
  readonly #due = new Set<OrganizationLeases>()
  readonly #active = new Set<OrganizationLeases>()
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

  /** Asks for an amount with the next round; rejects with 503 if that takes too long, or too many wait. */
  async ask<Answer>(
    leases: OrganizationLeases,
    lease: { ask(amount: number): Promise<Answer> },
    amount: number,
  ): Promise<Answer> {
    if (this.#stopped) throw gatewayStopping()
    if (this.#overdue) throw unavailable()
    if (this.#waiting >= maxWaiting)
      throw serviceUnavailable('Too many requests are waiting for their rate limits. Try again later.')
    this.#waiting++
    try {
      const answer = lease.ask(amount)
      this.start(leases)
      return await answer
    } finally {
      this.#waiting--
    }
  }

  /** Starts a round for the organization, or adds it to the next one. */
  start(leases: OrganizationLeases): void {
    this.watch(leases)
    this.#due.add(leases)
    if (!this.#stopped) this.#running ??= this.#run()
  }

  /** Includes the organization in the ticks until it is idle. */
  watch(leases: OrganizationLeases): void {
    this.#active.add(leases)
    if (!this.#stopped) this.#timer ??= setTimeout(this.#tick, tickMs).unref()
  }

  /** Returns everything to the database if that is possible in time; rejects later requests. */
  async stop(): Promise<void> {
    this.#stopped = true
    clearTimeout(this.#timer)
    await settleWithin(this.#returnAll(), returnTimeoutMs)
  }

  async #returnAll(): Promise<void> {
    await this.#running
    for (const leases of this.#active) this.#due.add(leases)
    while (this.#due.size > 0) await this.#renew(false)
  }

  readonly #tick = (): void => {
    this.#timer = undefined
    this.#forgetSlotsIfRemoved()
    for (const leases of this.#active) {
      const all = leasesOf(leases)
      if (all.every((lease) => lease.isIdle())) this.#active.delete(leases)
      else if (all.map((lease) => lease.tick()).includes(true)) this.start(leases)
      else this.watch(leases)
    }
  }

  async #run(): Promise<void> {
    while (this.#due.size > 0) {
      // Other requests of this turn of the event loop take part; with a distant database, those of a fraction of a renewal.
      const gatherMs = Math.min(maxGatherMs, this.#renewalMs * gatheredPart)
      await (gatherMs < 1 ? Promise.resolve() : Bun.sleep(gatherMs))
      await this.#renew(true)
    }
    this.#running = undefined
  }

  async #renew(keep: boolean): Promise<void> {
    this.#forgetSlotsIfRemoved()
    const members = [...this.#due].slice(0, maxOrganizations)
    for (const leases of members) this.#due.delete(leases)
    const changed = members.filter((leases) => leasesOf(leases).some((lease) => lease.isDue(keep)))
    // The state of both buckets is always read.
    const buckets = changed.flatMap(({ buckets }) => buckets)
    const slots = changed.flatMap(({ slots }) => slots.filter((lease) => lease.isDue(keep)))
    if (buckets.length > 0) await this.#settle(buckets, slots, keep)
  }

  async #settle(
    buckets: readonly LeasedBucket[],
    slots: readonly LeasedSlots[],
    keep: boolean,
  ): Promise<void> {
    const startedAt = performance.now()
    const deadline = setTimeout(this.#abandon, this.#timeoutMs)
    try {
      const grants = await this.#renewLeases(this.#process, {
        buckets: buckets.map((lease) => lease.begin(keep)),
        slots: slots.map((lease) => lease.begin(keep)),
      })
      this.#renewalMs = performance.now() - startedAt
      for (const [index, grant] of grants.buckets.entries()) buckets[index]?.receive(grant)
      for (const [index, grant] of grants.slots.entries()) slots[index]?.receive(grant)
    } catch (error) {
      const failure = error instanceof Error ? error : unavailable()
      for (const lease of [...buckets, ...slots]) lease.fail(failure)
    } finally {
      clearTimeout(deadline)
      this.#overdue = false
    }
  }

  /** Rejects what waits for this round or for a later one. */
  readonly #abandon = (): void => {
    this.#overdue = true
    for (const leases of this.#active) for (const lease of leasesOf(leases)) lease.abandon(unavailable())
  }

  /** A process that was evicted and has registered again has no slots under its new id. */
  #forgetSlotsIfRemoved(): void {
    const process = this.#identity.id()
    if (process === this.#process) return
    this.#process = process
    for (const { slots } of this.#active) for (const lease of slots) lease.forget()
  }
}

function leasesOf({ buckets, slots }: OrganizationLeases): readonly (LeasedBucket | LeasedSlots)[] {
  return [...buckets, ...slots]
}

function unavailable(): Error {
  return serviceUnavailable('The database of the gateway is unavailable. Try again later.')
}
