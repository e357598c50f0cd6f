/** What a provider says is wrong, in its own words: shown to nobody before it is classified and scrubbed. */
export type ProviderError = {
  readonly message: string
  /** The HTTP status that the provider means, also where it came inside a 200. */
  readonly status?: number
  readonly type?: string
  readonly code?: string
  /** Whether it is the status that the provider answered with, and not one that its response names. */
  readonly fromStatusLine?: true
  /** Found by the gateway and not reported by the provider: the message is the gateway's own, and may be shown. */
  readonly detected?: true
  /** Seconds. */
  readonly retryAfter?: number
}

/** The message of a complaint that has none of the provider's. */
export const noReason = 'The provider gave no reason.'

/** The response ended as a whole one does, but without its last word. */
export const endedEarly: ProviderError = {
  message: 'its response ended before it was complete',
  detected: true,
}

/** The connection was closed before the response ended. */
export const connectionClosed: ProviderError = {
  message: 'the connection was closed before its response was complete',
  detected: true,
}

/** The response holds bytes that are not of its format. */
export const invalidData: ProviderError = { message: 'its response holds invalid data', detected: true }

/** The response could not be read, for example because its compression is broken. */
export const unreadable: ProviderError = { message: 'its response could not be read', detected: true }

/** The response is nested deeper or longer than the gateway reads. */
export const tooLarge: ProviderError = { message: 'its response is too large to be read', detected: true }
