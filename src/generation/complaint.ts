/** What a provider says is wrong, in its own words: shown to nobody before it is classified and scrubbed. */
export type Complaint = {
  readonly message: string
  /** The HTTP status that the provider means, also where it came inside a 200. */
  readonly status?: number
  readonly type?: string
  readonly code?: string
  /** Seconds. */
  readonly retryAfter?: number
}
