import type { Observability } from '../observability/observability.ts'
import { localActor } from '../storage/local-actor.ts'
import type { Storage } from '../storage/ports/storage.ts'

/** This process of a gateway, for the supervisor of several. */
export type RuntimeProcess = ReturnType<typeof createRuntimeProcess>

/** Creates the view of this process. */
export function createRuntimeProcess(
  { metrics, live, requests }: Observability,
  { peers, managed }: Pick<Storage, 'peers' | 'managed'>,
) {
  const { recordFileChange } = managed.by(localActor('settings', 'server'))
  return {
    /** The id in the database. */
    id: peers.id,
    metrics: metrics.snapshot,
    /** The live requests since the last call, for a reader of another process. */
    liveEvents: (reader: string) => live.collect(reader, requests.calling()),
    /** Writes the names of the settings that a reload has changed to the audit log; some of their values are secrets. */
    recordReload: (changed: readonly string[]) =>
      recordFileChange({ event: 'settings.reloaded', before: {}, after: { changed } }),
    /** See `Peers`. */
    evict: peers.evict,
  }
}
