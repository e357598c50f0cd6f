import type { LiveEvent } from '../observability/live-event.ts'
import type { MetricSnapshot } from '../observability/metrics/snapshot.ts'
import type { Observability } from '../observability/observability.ts'
import type { Peers } from '../storage/ports/peers.ts'

/** This process of a gateway, for the supervisor of several. */
export type RuntimeProcess = {
  /** The id in the database. */
  id(): string
  metrics(): readonly MetricSnapshot[]
  /** The live requests since the last call, for a reader of another process. */
  liveEvents(reader: string): readonly LiveEvent[]
  /** See `Peers`. */
  readonly evict: Peers['evict']
}

/** Creates the view of this process. */
export function createRuntimeProcess(
  { metrics, live, requests }: Observability,
  peers: Peers,
): RuntimeProcess {
  return {
    id: peers.id,
    metrics: metrics.snapshot,
    liveEvents: (reader) => live.collect(reader, requests.calling()),
    evict: peers.evict,
  }
}
