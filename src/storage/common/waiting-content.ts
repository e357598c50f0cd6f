import type { SettleNow } from './settlement-retries.ts'

/** Characters. */
const maxWaiting = 64 * 1024 * 1024

/**
 * Settles requests without their content where too much content waits for the database already: a slow one must not fill the
 * memory, and no request fails for its content.
 */
export function withBoundedContent(settle: SettleNow, max = maxWaiting): SettleNow {
  let waiting = 0
  return (request, outcome, options) => {
    const length = outcome.content?.length ?? 0
    if (length === 0) return settle(request, outcome, options)
    if (waiting + length > max) return settle(request, { ...outcome, content: undefined }, options)
    waiting += length
    return settle(request, outcome, options).finally(() => (waiting -= length))
  }
}
