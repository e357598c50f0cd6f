import type { LiveEvent } from '../observability/live-event.ts'
import type { MetricSnapshot } from '../observability/metrics/snapshot.ts'
import type { Observability } from '../observability/observability.ts'
import type { SharedStore } from '../storage/ports/shared-store.ts'

/** This process of a gateway, for the supervisor of several. */
export type RuntimeProcess = {
  /** The id in the database; undefined if the process does not share it. */
  id(): string | undefined
  metrics(): readonly MetricSnapshot[]
  /** The live requests since the last call, for a reader of another process. */
  liveEvents(reader: string): readonly LiveEvent[]
  /** Removes another process that has certainly ended: what it left open is settled without waiting for its silence. */
  removeEnded(id: string): Promise<void>
}

/** Creates the view of this process. */
export function createRuntimeProcess(
  { metrics, live, requests }: Observability,
  shared: SharedStore | undefined,
): RuntimeProcess {
  return {
    id: () => shared?.process.id(),
    metrics: metrics.snapshot,
    liveEvents: (reader) => live.collect(reader, requests.calling()),
    async removeEnded(id) {
      const processes = await shared?.processes.list()
      const ended = processes?.find((process) => process.id === id)
      if (ended !== undefined) await shared?.processes.remove(ended)
    },
  }
}
