/** A request that waits for the answer of an exchange. */
export type WaitingRequest = {
  /** Whether it was rejected before the answer. */
  abandoned: boolean
  reject(error: Error): void
}

/** Rejects requests whose answer takes too long. */
export function abandonAll(requests: readonly WaitingRequest[], error: Error): void {
  for (const request of requests) {
    request.abandoned = true
    request.reject(error)
  }
}
