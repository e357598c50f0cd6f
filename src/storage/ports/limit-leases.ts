/** The rate limits that are token buckets. */
export type BucketKind = 'requests' | 'tokens'

/** The limits of what an organization may have at a time. */
export type SlotKind = 'concurrent' | 'queued'

/** What a process takes from a bucket or returns to it. */
export type BucketExchange = {
  readonly organization: string
  readonly kind: BucketKind
  /** The amount of a minute. */
  readonly limit: number
  /**
   * What requests need, each granted whole or not at all, in this order. An amount above the limit is granted by a full
   * bucket, and leaves a debt of one minute at most.
   */
  readonly needs: readonly number[]
  /** More than that, granted as far as the bucket has it, for requests to come. */
  readonly spare: number
  /** What is used beyond earlier grants; negative for what is returned. */
  readonly correction: number
}

export type BucketGrant = {
  /** For each need, whether it was granted. */
  readonly granted: readonly boolean[]
  readonly spare: number
  /** What the bucket still has, the milliseconds until it is full, and until the first need that was not granted may be. */
  readonly remaining: number
  readonly resetMs: number
  readonly retryMs: number
}

/** What a process takes from the slots of an organization or returns to them. */
export type SlotExchange = {
  readonly organization: string
  readonly kind: SlotKind
  readonly limit: number
  /** How many it wants to have in all; fewer than it has returns the rest. */
  readonly wanted: number
}

/** `held`: how many it has from now on; `others`: how many all other processes have. */
export type SlotGrant = { readonly held: number; readonly others: number }

/**
 * The rate limits that the processes of a database share. The sum of what is granted never exceeds a limit. All exchanges
 * of a call are one transaction, which need not be durable: a crash of the database may forget the last of them.
 */
export type LimitLeases = {
  exchange(
    process: string,
    buckets: readonly BucketExchange[],
    slots: readonly SlotExchange[],
  ): Promise<{ readonly buckets: readonly BucketGrant[]; readonly slots: readonly SlotGrant[] }>
}
