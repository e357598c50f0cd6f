import type { Organization } from '../../storage/organization.ts'
import { Allowance, type LimitValues, type Standing } from './allowance.ts'

/** The limits of all organizations, in this process. */
export type Limits = {
  /**
   * Counts a request of the organization, or throws the 429. `tell` hears how the organization stands, then and
   * whenever this request changes it.
   */
  admit(organization: Organization, tell: (standing: Standing) => void): Admission
  /** A call that an earlier process has let in, and that is still to be made. */
  resume(organization: Organization): QueuedCall
  /** How many organizations are remembered. */
  size(): number
}

/** A request that was let in. */
export type Admission = {
  /** Takes a place among the open calls, and about so many tokens, or throws the 429. */
  open(tokens: number): OpenCall
  /** Takes about so many tokens for a call that is to be made later, or throws the 429. */
  queue(tokens: number): QueuedCall
  /** The request is in the books already, without a call. */
  enter(): void
  /** Whether it has: from then on the call is in the books, however it ends. */
  opened(): boolean
}

/** A call that has its tokens, and waits for its place. */
export type QueuedCall = {
  /** Takes a place among the open calls; undefined while the organization has none that is free. */
  start(): OpenCall | undefined
  /** Gives the tokens back: the call will not be made. */
  drop(): void
}

/** A call that takes a place until it is closed. */
export type OpenCall = {
  /** Frees the place and corrects the tokens to those that were used. Closing again does nothing. */
  close(tokens: number): void
}

/** `clock` is milliseconds that never go back. Beyond `most` organizations, those that rest are forgotten. */
export function createLimits(
  defaults: () => LimitValues,
  clock = () => performance.now(),
  most = 100_000,
): Limits {
  const allowances = new Map<string, Allowance>()

  function allowanceOf(organization: Organization, now: number): Allowance {
    const known = allowances.get(organization.id)
    if (known) return known
    if (allowances.size >= most) forgetIdle(allowances, now)
    const fresh = new Allowance(limitsOf(organization, defaults()), now)
    allowances.set(organization.id, fresh)
    return fresh
  }

  return {
    admit(organization, tell) {
      const now = clock()
      const allowance = allowanceOf(organization, now)
      allowance.adopt(limitsOf(organization, defaults()), now)
      telling(allowance, now, tell, () => allowance.takeRequest(now))
      // Looked up again: while a body was read, the allowance may have been idle, and forgotten.
      return admitted(() => allowanceOf(organization, clock()), clock, tell)
    },
    resume: (organization) => queuedCall(() => allowanceOf(organization, clock()), 0, clock),
    size: () => allowances.size,
  }
}

function admitted(
  allowance: () => Allowance,
  clock: () => number,
  tell: (standing: Standing) => void,
): Admission {
  let opened = false
  return {
    open(tokens) {
      const call = openCall(allowance(), tokens, clock, tell)
      opened = true
      return call
    },
    queue(tokens) {
      const now = clock()
      const found = allowance()
      telling(found, now, tell, () => found.takeTokens(tokens, now))
      opened = true
      return queuedCall(allowance, tokens, clock)
    },
    enter: () => void (opened = true),
    opened: () => opened,
  }
}

function limitsOf({ limits: own }: Organization, defaults: LimitValues): LimitValues {
  return {
    requestsPerMinute: own.requestsPerMinute ?? defaults.requestsPerMinute,
    tokensPerMinute: own.tokensPerMinute ?? defaults.tokensPerMinute,
    concurrentRequests: own.concurrentRequests ?? defaults.concurrentRequests,
  }
}

function openCall(
  allowance: Allowance,
  taken: number,
  clock: () => number,
  tell: (standing: Standing) => void,
): OpenCall {
  const openedAt = clock()
  telling(allowance, openedAt, tell, () => allowance.openCall(taken, openedAt))
  return closable(allowance, taken, clock, tell)
}

/** Its own request is long answered when it starts: nobody hears how the organization stands. */
function queuedCall(allowance: () => Allowance, taken: number, clock: () => number): QueuedCall {
  return {
    start() {
      const found = allowance()
      return found.takePlace() ? closable(found, taken, clock, () => {}) : undefined
    },
    drop: () => allowance().giveBackTokens(taken, clock()),
  }
}

function closable(
  allowance: Allowance,
  taken: number,
  clock: () => number,
  tell: (standing: Standing) => void,
): OpenCall {
  let closed = false
  return {
    close(used) {
      if (closed) return
      closed = true
      const now = clock()
      telling(allowance, now, tell, () => allowance.closeCall(taken, used, now))
    },
  }
}

/** Makes the change and tells how the organization stands after it, also where it was refused. */
function telling(
  allowance: Allowance,
  now: number,
  tell: (standing: Standing) => void,
  change: () => void,
): void {
  try {
    change()
  } finally {
    tell(allowance.standing(now))
  }
}

/** How many are looked at for each organization that is new, so that no request pays for all. */
const looks = 8

/** Those that are not idle go behind the others. None of them is dropped: that would forgive what it has spent. */
function forgetIdle(allowances: Map<string, Allowance>, now: number): void {
  for (const [id, allowance] of allowances.entries().take(looks)) {
    allowances.delete(id)
    if (!allowance.idle(now)) allowances.set(id, allowance)
  }
}
