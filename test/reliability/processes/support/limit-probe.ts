import { chatRequest } from '../../../support/scenario.ts'
import type { SendRequest } from '../../faults/support/kill-client.ts'

/** A request that was admitted, from when it was sent until its reply was complete, in milliseconds. */
export type Admitted = { readonly sent: number; readonly received: number }

/** What became of the requests to a small limit. */
export type Probed = {
  readonly admitted: Admitted[]
  /** Those whose connection broke with a gateway that was killed, maybe after they were admitted. */
  lost: number
  /** Replies that are neither a completion nor a rejection. */
  readonly failed: string[]
}

/** What is sent to the small limit; the provider always completes it. */
export const probeInput = 'Probe'

const probeRequest = { ...chatRequest, messages: [{ role: 'user', content: probeInput }] }

/** Sends requests of an organization with a small limit, as fast as they are answered, and notes what becomes of them. */
export async function probeLimit(ask: SendRequest, probed: Probed, ended: AbortSignal): Promise<void> {
  while (!ended.aborted) {
    const sent = performance.now()
    try {
      const reply = await ask('/v1/chat/completions', 'POST', probeRequest)
      const text = await reply.text()
      if (reply.status === 200) probed.admitted.push({ sent, received: performance.now() })
      // A gateway, or a database, without processor time for seconds rejects with 503.
      else if (![429, 503].includes(reply.status)) probed.failed.push(`${reply.status}: ${text}`)
    } catch {
      probed.lost++
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
