import { repeatEvery } from '../../../../src/lib/time.ts'
import type { BillingDatabase } from '../../../support/billing-database.ts'

const intervalMs = 250
/** A process whose last beat is older is no witness. */
const maxBeatAgeMs = 2500

/** The first sign of life of a process that was seen, and the last one. */
type Seen = { readonly first: number; readonly last: number; readonly beat: number }

/**
 * Observes how long what a process has left open stays open after its last sign of life. The time in which no process
 * lived that could have noticed that does not count.
 */
export function watchOrphans({ values }: Pick<BillingDatabase, 'values'>) {
  const seen = new Map<string, Seen>()
  let longestMs = 0

  async function look(): Promise<void> {
    const now = performance.now()
    for (const [id, beat] of (await values('SELECT id, beat FROM processes')) as [string, number][]) {
      const known = seen.get(id)
      if (known?.beat !== beat) seen.set(id, { first: known?.first ?? now, last: now, beat })
    }
    const witnesses = [...seen.values()].filter(({ last }) => now - last < maxBeatAgeMs)
    const oldest = Math.min(...witnesses.map(({ first }) => first))
    const open = await values('SELECT process_id FROM reservations UNION SELECT process_id FROM runs')
    for (const [id] of open) {
      const { last = now } = seen.get(String(id)) ?? {}
      longestMs = Math.max(longestMs, now - Math.max(last, Math.min(oldest, now)))
    }
  }

  const watching = repeatEvery(intervalMs, look, () => {})
  return { longestMs: () => longestMs, [Symbol.dispose]: watching.stop }
}
