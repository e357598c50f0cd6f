import { chatRequest } from '../../../support/scenario.ts'
import type { SendRequest } from '../../faults/support/kill-client.ts'

/** A request that was admitted, from when it was sent until its reply was complete, in milliseconds. */
export type Admitted = { readonly sent: number; readonly received: number }

/** Sends requests of an organization with a small limit, as fast as they are answered, and notes those that were admitted. */
export async function probeLimit(ask: SendRequest, admitted: Admitted[], ended: AbortSignal): Promise<void> {
  while (!ended.aborted) {
    const sent = performance.now()
    try {
      const reply = await ask('/v1/chat/completions', 'POST', chatRequest)
      await reply.text()
      if (reply.status === 200) admitted.push({ sent, received: performance.now() })
    } catch {
      // Its gateway was killed.
    }
    await Bun.sleep(50)
  }
}

/**
 * The most by which any period exceeds what a full bucket, and its refill in that period, allow. Positive if one request
 * too many was admitted.
 */
export function largestExcess(admitted: readonly Admitted[], perMinute: number): number {
  let excess = Number.NEGATIVE_INFINITY
  for (const { sent } of admitted) {
    const later = admitted.filter((other) => other.sent >= sent).map(({ received }) => received)
    for (const [index, received] of later.toSorted((a, b) => a - b).entries())
      excess = Math.max(excess, index + 1 - perMinute - ((received - sent) * perMinute) / 60_000)
  }
  return excess
}
