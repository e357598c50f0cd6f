/** The sums of requests of a period that have the same properties. */
export type UsageSlice = {
  /** When the period begins, in milliseconds since 1970. */
  readonly start: number
  readonly organization: string
  readonly key: string
  readonly api: string
  /** Empty if the requests have none, like the provider. */
  readonly model: string
  readonly provider: string
  /** The user or tag, if the slices are by label; null if the requests have none. */
  readonly label: string | null
  readonly requests: number
  readonly failed: number
  readonly clientErrors: number
  readonly serverErrors: number
  readonly promptTokens: number
  readonly completionTokens: number
  readonly cachedTokens: number
  readonly cacheWriteTokens: number
  readonly reasoningTokens: number
  readonly priced: number
  readonly unpriced: number
  /** As text, because the sum of many costs may exceed the exact range of a number. */
  readonly cost: string
  /** Rounded times and the numbers of successful requests that took them, in the form of the store: see `AddTimes`. */
  readonly latencies: string
  readonly firstTokens: string
}
