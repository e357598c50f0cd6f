import type { LiveEvent } from './live-event.ts'
import type { LiveReader } from './live-reader.ts'

/**
 * Returns the events of the other processes that share the port, since the last call for this reader; in the first one,
 * the starts of their requests in progress.
 */
export type OtherLiveEvents = (reader: string) => Promise<readonly LiveEvent[]>

/** Between two reads of the events of other processes. */
const intervalMs = 200
/** A reader whose process does not collect its events for this time has left. */
const absenceMs = 10_000
/** The most readers in other processes. */
const maxRemoteReaders = 256

/** Passes the events of the other processes on to a reader, until it is closed. */
export async function readOthers(reader: LiveReader, others: OtherLiveEvents): Promise<void> {
  const id = crypto.randomUUID()
  while (!reader.closed) {
    // If the others cannot be asked at the moment, their events wait.
    for (const event of await others(id).catch(() => [])) reader.push(event)
    await Bun.sleep(intervalMs)
  }
}

/** The readers in other processes, which collect their events again and again. */
export class RemoteReaders {
  readonly #readers = new Map<string, { readonly reader: LiveReader; readonly absence: Timer }>()

  /** Returns the events that wait for the reader; `open` creates it for the first time. */
  collect(id: string, open: () => LiveReader): readonly LiveEvent[] {
    const known = this.#readers.get(id)
    if (known === undefined && this.#readers.size >= maxRemoteReaders) return []
    const reader = known?.reader ?? open()
    clearTimeout(known?.absence)
    const absence = setTimeout(() => {
      this.#readers.delete(id)
      reader.close()
    }, absenceMs).unref()
    this.#readers.set(id, { reader, absence })
    return reader.take()
  }
}
