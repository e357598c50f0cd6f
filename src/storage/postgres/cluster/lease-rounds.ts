import { gatewayStopping, serviceUnavailable } from '../../../lib/errors/errors.ts'
import { settleWithin } from '../../../lib/time.ts'
import { callerTimeoutMs } from '../../ports/health.ts'
import type { ProcessIdentity } from '../../ports/shared-store.ts'
import type { BucketExchange, BucketGrant, SlotExchange, SlotGrant } from './lease-exchange.ts'
import type { ExchangeLeases } from './lease-store.ts'

/** An exchange that is about to be made, and who receives its answer. */
export type PreparedExchange<Exchange, Grant> = {
  readonly exchange: Exchange
  receive(grant: Grant): void
  /** Nothing was exchanged. */
  fail(error: Error): void
  /** Rejects the requests that wait for the answer, which comes later: what they are granted is returned then. */
  abandon(error: Error): void
}

/** The exchanges of an organization. */
export type PreparedExchanges = {
  readonly buckets: readonly PreparedExchange<BucketExchange, BucketGrant>[]
  readonly slots: readonly PreparedExchange<SlotExchange, SlotGrant>[]
}

/** A request that waits for the answer of an exchange. */
export type WaitingRequest = {
  /** Whether it was rejected before the answer. */
  abandoned: boolean
  reject(error: Error): void
}

/** Rejects requests whose answer takes too long. */
export function rejectAll(requests: readonly WaitingRequest[], error: Error): void {
  for (const request of requests) {
    request.abandoned = true
    request.reject(error)
  }
}

/** A limiter that takes its leases in rounds. */
export type RoundMember = {
  /** Returns what is to be exchanged now; without `keep`, everything that is not used is returned. */
  prepare(keep: boolean): PreparedExchanges
  /** Called at regular intervals; returns whether there is a reason for an exchange. */
  tick(): boolean
  /** Whether it holds and owes nothing. */
  isIdle(): boolean
  /** Rejects the requests that wait for the next exchange. */
  abandon(error: Error): void
  /** The slots of this process do not count any more. */
  forgetSlots(): void
}

/**
 * The exchanges of this process with the store. One round runs at a time, and serves all limiters that have something to
 * exchange: the requests that arrive meanwhile share the next one. A round whose answer takes too long rejects its requests,
 * and still runs until it is known what was exchanged.
 */
export class LeaseRounds {
  readonly #exchangeLeases: ExchangeLeases
  readonly #identity: Pick<ProcessIdentity, 'id'>
  readonly #timeoutMs: number
  /** The limiters of the next round. */
  readonly #due = new Set<RoundMember>()
  /** The limiters that hold or owe something. */
  readonly #active = new Set<RoundMember>()
  #process: string
  #waiting = 0
  /** How long the last exchange took, and before the first one, how long it takes at a moderate distance. */
  #exchangeMs = 16
  #running: Promise<void> | undefined
  /** Whether the round that runs has taken too long. */
  #overdue = false
  #timer: Timer | undefined
  #stopped = false

  constructor(
    exchangeLeases: ExchangeLeases,
    identity: Pick<ProcessIdentity, 'id'>,
    timeoutMs = callerTimeoutMs,
  ) {
    this.#exchangeLeases = exchangeLeases
    this.#identity = identity
    this.#timeoutMs = timeoutMs
    this.#process = identity.id()
  }

  /** Makes a request of the limiter that the next round answers; rejects with 503 if that takes too long, or too many wait. */
  async ask<Value>(member: RoundMember, request: () => Promise<Value>): Promise<Value> {
    if (this.#stopped) throw gatewayStopping()
    if (this.#overdue) throw unavailable()
    if (this.#waiting >= maxWaiting)
      throw serviceUnavailable('Too many requests are waiting for their rate limits. Try again later.')
    this.#waiting++
    try {
      const answer = request()
      this.start(member)
      return await answer
    } finally {
      this.#waiting--
    }
  }

  /** Starts a round for the limiter, or adds it to the next one. */
  start(member: RoundMember): void {
    this.watch(member)
    this.#due.add(member)
    if (!this.#stopped) this.#running ??= this.#run()
  }

  /** Includes the limiter in the ticks until it is idle. */
  watch(member: RoundMember): void {
    this.#active.add(member)
    if (!this.#stopped) this.#timer ??= setTimeout(this.#tick, tickMs).unref()
  }

  /** Returns everything to the store if that is possible in time; rejects later requests. */
  async stop(): Promise<void> {
    this.#stopped = true
    clearTimeout(this.#timer)
    await settleWithin(this.#returnAll(), returnTimeoutMs)
  }

  async #returnAll(): Promise<void> {
    await this.#running
    for (const member of this.#active) this.#due.add(member)
    while (this.#due.size > 0) await this.#exchange(false)
  }

  readonly #tick = (): void => {
    this.#timer = undefined
    this.#forgetSlotsIfRemoved()
    for (const member of this.#active)
      if (member.isIdle()) this.#active.delete(member)
      else if (member.tick()) this.start(member)
      else this.watch(member)
  }

  async #run(): Promise<void> {
    while (this.#due.size > 0) {
      await this.#gather()
      await this.#exchange(true)
    }
    this.#running = undefined
  }

  /** Waits for other requests of this turn of the event loop; with a distant database, for a fraction of an exchange. */
  async #gather(): Promise<void> {
    const gatherMs = Math.min(maxGatherMs, this.#exchangeMs * gatheredPart)
    await (gatherMs < 1 ? Promise.resolve() : Bun.sleep(gatherMs))
  }

  async #exchange(keep: boolean): Promise<void> {
    this.#forgetSlotsIfRemoved()
    const members = [...this.#due].slice(0, maxMembers)
    for (const member of members) this.#due.delete(member)
    const prepared = members.map((member) => member.prepare(keep))
    const buckets = prepared.flatMap(({ buckets }) => buckets)
    const slots = prepared.flatMap(({ slots }) => slots)
    if (buckets.length + slots.length > 0) await this.#settle(buckets, slots)
  }

  async #settle(buckets: PreparedExchanges['buckets'], slots: PreparedExchanges['slots']): Promise<void> {
    const round = [...buckets, ...slots]
    const startedAt = performance.now()
    const deadline = setTimeout(() => this.#abandon(round), this.#timeoutMs)
    try {
      const grants = await this.#exchangeLeases(this.#process, {
        buckets: buckets.map(({ exchange }) => exchange),
        slots: slots.map(({ exchange }) => exchange),
      })
      this.#exchangeMs = performance.now() - startedAt
      for (const [index, grant] of grants.buckets.entries()) buckets[index]?.receive(grant)
      for (const [index, grant] of grants.slots.entries()) slots[index]?.receive(grant)
    } catch (error) {
      const failure = error instanceof Error ? error : unavailable()
      for (const { fail } of round) fail(failure)
    } finally {
      clearTimeout(deadline)
      this.#overdue = false
    }
  }

  /** Rejects what waits for this round or for a later one. */
  #abandon(round: readonly { abandon(error: Error): void }[]): void {
    this.#overdue = true
    for (const { abandon } of round) abandon(unavailable())
    for (const member of this.#active) member.abandon(unavailable())
  }

  /** A process that was removed and has entered again has no slots under its new id. */
  #forgetSlotsIfRemoved(): void {
    const process = this.#identity.id()
    if (process === this.#process) return
    this.#process = process
    for (const member of this.#active) member.forgetSlots()
  }
}

const tickMs = 100
/** What has not been used for so many ticks is returned. */
export const idleTicks = 5
/** For everything to be returned when the process stops. */
const returnTimeoutMs = 5000
const maxWaiting = 10_000
/** An exchange that takes 80 ms begins 5 ms later, so that requests which come at the same time need no second one. */
const gatheredPart = 1 / 16
const maxGatherMs = 5
/** The limiters of one round. */
const maxMembers = 200

function unavailable(): Error {
  return serviceUnavailable('The database of the gateway is unavailable. Try again later.')
}
