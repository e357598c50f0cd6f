/**
 * An error as the provider reports it, in the provider's words. It has to be classified and scrubbed before a
 * caller sees it.
 */
export type ProviderError = {
  readonly message: string
  /** The HTTP status that the provider means, even if its response came with a 200. */
  readonly status?: number
  readonly type?: string
  readonly code?: string
  /** Whether `status` is that of the HTTP response, and not one that its body names. */
  readonly fromStatusLine?: true
  /**
   * Found by the gateway and not reported by the provider: the message is the gateway's own, and may be
   * shown.
   */
  readonly detected?: true
  /** Seconds. */
  readonly retryAfter?: number
}

/** The message of an error for which the provider gives none. */
export const noReasonMessage = 'The provider gave no reason.'

/** The response ended without its final event, on a connection that closed properly. */
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
export const invalidData: ProviderError = { message: 'its response contains invalid data', detected: true }

/** The response could not be read, for example because its compression is broken. */
export const unreadable: ProviderError = { message: 'its response could not be read', detected: true }

/** The response is nested deeper or longer than the gateway reads. */
export const tooLarge: ProviderError = { message: 'its response is too large to be read', detected: true }
