import type { RequestTracker } from '../observability/request-tracker.ts'

/** Milliseconds between two checks whether the gateway is idle. */
const intervalMs = 60_000

/** Calls after which a release is worth its price: what was compiled is dropped, and compiled again when it is called. */
const minCalls = 1000

/** Returns memory to the system when calls have ceased, until it is stopped. */
export function startMemoryRelease(requests: Pick<RequestTracker, 'open' | 'calls'>): { stop(): void } {
  const timer = setInterval(createMemoryRelease(requests, Bun.shrink), intervalMs).unref()
  return { stop: () => clearInterval(timer) }
}

/**
 * Returns a function that releases memory if nothing is open and no call has started since it last ran: once after each
 * period of many calls. Checks of health and scrapes of metrics in between do not count.
 */
export function createMemoryRelease(
  requests: Pick<RequestTracker, 'open' | 'calls'>,
  release: () => void,
): () => void {
  let seen = 0
  let released = 0
  return () => {
    const calls = requests.calls()
    const open = requests.open()
    const idle = calls === seen && open.requests === 0 && open.calls === 0
    seen = calls
    if (!idle || calls - released < minCalls) return
    released = calls
    release()
  }
}
