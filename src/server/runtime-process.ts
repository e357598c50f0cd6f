import type { LiveEvent } from '../observability/live-event.ts'
import type { MetricSnapshot } from '../observability/metrics/snapshot.ts'
import type { Observability } from '../observability/observability.ts'
import { localActor } from '../storage/local-actor.ts'
import type { Peers } from '../storage/ports/peers.ts'
import type { Storage } from '../storage/ports/storage.ts'

/** This process of a gateway, for the supervisor of several. */
export type RuntimeProcess = {
  /** The id in the database. */
  id(): string
  metrics(): readonly MetricSnapshot[]
  /** The live requests since the last call, for a reader of another process. */
  liveEvents(reader: string): readonly LiveEvent[]
  /** Writes the names of the settings that a reload has changed to the audit log. */
  recordReload(changed: readonly string[]): Promise<void>
  /** See `Peers`. */
  readonly evict: Peers['evict']
}

/** Creates the view of this process. */
export function createRuntimeProcess(
  { metrics, live, requests }: Observability,
  { peers, managed }: Pick<Storage, 'peers' | 'managed'>,
): RuntimeProcess {
  const { recordFileChange } = managed.by(localActor('settings', 'server'))
  return {
    id: peers.id,
    metrics: metrics.snapshot,
    liveEvents: (reader) => live.collect(reader, requests.calling()),
    // Without values, some of which are secrets.
    recordReload: (changed) =>
      recordFileChange({ event: 'settings.reloaded', before: {}, after: { changed } }),
    evict: peers.evict,
  }
}
