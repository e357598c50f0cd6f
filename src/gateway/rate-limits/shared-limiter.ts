import type { OrganizationLimiter, RateLimitStatus } from '../../storage/ports/limits.ts'
import type { RateLimitOwner } from '../access/caller-limits.ts'

/** The limits of a request: those of its organization alone, or also those of its project and its keys. */
export type RequestLimiter = Pick<
  OrganizationLimiter,
  'takeRequest' | 'refundRequest' | 'takeTokens' | 'settleTokens' | 'takeSlot' | 'releaseSlot' | 'status'
> & {
  /** The number of calls that may be in progress. */
  readonly maxConcurrent: number
}

/** A limiter of a request, and what it belongs to. */
type LimiterPart = {
  /** As messages name it, after “for”. */
  readonly title: string
  readonly limiter: OrganizationLimiter
  readonly requests: boolean
  readonly tokens: boolean
  readonly slots: boolean
}

/** Finds the limiter of an owner each time, because one that is idle may be evicted while a body is read or a call runs. */
type FindLimiter = () => OrganizationLimiter

/** The part of a project or a key, which has only some of the limits. */
export function ownerPart({ title, limits }: RateLimitOwner, find: FindLimiter): LimiterPart {
  return {
    title,
    get limiter() {
      return find()
    },
    requests: limits.requestsPerMinute !== null,
    tokens: limits.tokensPerMinute !== null,
    slots: limits.concurrentRequests !== null,
  }
}

/** The part of an organization, which has all limits. */
export function organizationPart(find: FindLimiter): LimiterPart {
  return {
    title: organizationTitle,
    get limiter() {
      return find()
    },
    requests: true,
    tokens: true,
    slots: true,
  }
}

const organizationTitle = 'the organization'

/** Returns the owner of the limit that has rejected the last request of the limiter. */
export function rejectingPart(
  limiter: RequestLimiter,
): Pick<LimiterPart, 'title'> & { readonly limiter: RequestLimiter } {
  return limiter instanceof SharedLimiter ? limiter.rejecting : { title: organizationTitle, limiter }
}

/** Whether it was the limit of the organization that has rejected the last request of the limiter. */
export function isOrganizationFull(limiter: RequestLimiter): boolean {
  return rejectingPart(limiter).title === organizationTitle
}

/**
 * The limits of several owners, which a request takes from one after the other: those of the key first, so that its requests
 * beyond them do not touch the others. If one has too little, what was taken of those before is given back.
 */
export class SharedLimiter implements RequestLimiter {
  /** The part that has rejected the last request. */
  rejecting: LimiterPart
  readonly #requests: readonly LimiterPart[]
  readonly #tokens: readonly LimiterPart[]
  readonly #slots: readonly LimiterPart[]

  /** The last part is that of the organization. */
  constructor(parts: readonly [...LimiterPart[], LimiterPart]) {
    this.rejecting = parts[parts.length - 1] as LimiterPart
    this.#requests = parts.filter(({ requests }) => requests)
    this.#tokens = parts.filter(({ tokens }) => tokens)
    this.#slots = parts.filter(({ slots }) => slots)
  }

  get maxConcurrent(): number {
    return Math.min(...this.#slots.map(({ limiter }) => limiter.maxConcurrent))
  }

  takeRequest(opensCall: boolean): number | Promise<number> {
    // What an owner does not limit is not to be asked for.
    const take = ({ limiter, tokens, slots }: LimiterPart) =>
      limiter.takeRequest(opensCall && tokens && slots)
    return this.#takeAll(this.#requests, take, ({ limiter }) => limiter.refundRequest())
  }

  refundRequest(): void {
    for (const { limiter } of this.#requests) limiter.refundRequest()
  }

  takeTokens(tokens: number): number | Promise<number> {
    const take = ({ limiter }: LimiterPart) => limiter.takeTokens(tokens)
    return this.#takeAll(this.#tokens, take, ({ limiter }) => limiter.settleTokens(tokens, 0))
  }

  settleTokens(taken: number, used: number): void {
    for (const { limiter } of this.#tokens) limiter.settleTokens(taken, used)
  }

  takeSlot(): boolean | Promise<boolean> {
    const take = ({ limiter }: LimiterPart) => {
      const taken = limiter.takeSlot()
      return taken instanceof Promise ? taken.then(toWait) : toWait(taken)
    }
    const waitMs = this.#takeAll(this.#slots, take, ({ limiter }) => limiter.releaseSlot())
    return waitMs instanceof Promise ? waitMs.then((waitMs) => waitMs === 0) : waitMs === 0
  }

  releaseSlot(): void {
    for (const { limiter } of this.#slots) limiter.releaseSlot()
  }

  /** Of each kind, that of the owner with the least left. */
  status(): RateLimitStatus {
    const requests = this.#requests.map(({ limiter }) => limiter.status().requests)
    const tokens = this.#tokens.map(({ limiter }) => limiter.status().tokens)
    return { requests: tightest(requests), tokens: tightest(tokens) }
  }

  /** Takes from the parts from an index on. Returns 0, or gives back what it has taken and returns the milliseconds to wait. */
  #takeAll(
    parts: readonly LimiterPart[],
    take: Take,
    giveBack: GiveBack,
    from = 0,
  ): number | Promise<number> {
    for (const [index, part] of parts.entries()) {
      if (index < from) continue
      const waitMs = take(part)
      if (waitMs instanceof Promise) return this.#takeRest(waitMs, parts, take, giveBack, index)
      if (waitMs > 0) return this.#reject(part, waitMs, parts.slice(0, index), giveBack)
    }
    return 0
  }

  async #takeRest(
    pending: Promise<number>,
    parts: readonly LimiterPart[],
    take: Take,
    giveBack: GiveBack,
    index: number,
  ): Promise<number> {
    const [taken, part] = [parts.slice(0, index), parts[index]]
    let waitMs: number
    try {
      waitMs = await pending
    } catch (error) {
      taken.forEach(giveBack)
      throw error
    }
    if (waitMs > 0 && part) return this.#reject(part, waitMs, taken, giveBack)
    return this.#takeAll(parts, take, giveBack, index + 1)
  }

  #reject(part: LimiterPart, waitMs: number, taken: readonly LimiterPart[], giveBack: GiveBack): number {
    this.rejecting = part
    taken.forEach(giveBack)
    return waitMs
  }
}

/** Returns 0 if the part had enough, else the milliseconds to wait. */
type Take = (part: LimiterPart) => number | Promise<number>
type GiveBack = (part: LimiterPart) => void

/** A slot has no time to wait for. */
function toWait(taken: boolean): number {
  return taken ? 0 : 1
}

function tightest<Status extends { readonly remaining: number; readonly limit: number }>(
  all: readonly Status[],
): Status {
  return all.reduce((least, status) => {
    const difference = status.remaining - least.remaining || status.limit - least.limit
    return difference < 0 ? status : least
  })
}
