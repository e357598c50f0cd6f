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
  /** An integer amount for requests to come, granted as far as it is there, and not at all if a need was not granted. */
  readonly spare: number
  /** What is used beyond earlier grants; negative for what is returned. It is charged first. */
  readonly correction: number
}

export type BucketGrant = {
  /** For each need, whether it was granted. */
  readonly granted: readonly boolean[]
  readonly spare: number
  /** What is taken from the bucket by all processes, in the units of `TokenBucket`. */
  readonly spent: number
}

/** What a process takes from the slots of an organization or returns to them. */
export type SlotExchange = {
  readonly organization: string
  readonly kind: SlotKind
  readonly limit: number
  /**
   * How many it uses and waits for. It keeps those of them that it has, even if the limit is lower by now; others are
   * granted as far as the limit allows.
   */
  readonly needed: number
  /** How many more it would keep for requests to come, granted as far as they are free. */
  readonly spare: number
}

/** `held`: how many it has from now on; `others`: how many all other processes have. */
export type SlotGrant = { readonly held: number; readonly others: number }

/** The grants of an exchange, in its order. */
export type LimitGrants = {
  readonly buckets: readonly BucketGrant[]
  readonly slots: readonly SlotGrant[]
}

/**
 * The rate limits that the processes of a database share. The sum of what is granted never exceeds a limit, and the slots
 * of a process that was removed are free.
 */
export type LimitLeases = {
  /**
   * Executes all exchanges of a call in one transaction, which need not be durable: a crash of the database may forget the
   * last of them. No bucket and no kind of slots may be there twice. Rejects with 503 if the database is unavailable, or if
   * the process was removed: then nothing has changed. An exchange that was sent settles when its outcome is known, however
   * long the database is unavailable.
   */
  exchange(
    process: string,
    buckets: readonly BucketExchange[],
    slots: readonly SlotExchange[],
  ): Promise<LimitGrants>
}
