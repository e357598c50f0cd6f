import { ApiError, unreadableRun } from '../../../lib/errors/errors.ts'
import { causeOf, type Log } from '../../../lib/log.ts'
import { nextTurn } from '../../../lib/time.ts'
import type { Peers } from '../../../storage/ports/peers.ts'
import type { Responses } from '../../../storage/ports/responses.ts'
import { maxPieces, type RunProgress, type RunStore } from '../../../storage/ports/run-store.ts'
import { decodeEvents, readEvents } from '../events/event-log.ts'
import { toRunEnd } from '../events/run-event.ts'
import type { LiveResponse, LiveResponses } from './live-response.ts'
import { type ReplayOptions, type ResponseEventStream, streamLive } from './replay.ts'

/**
 * The responses whose events are read by clients here. Those that this process does not generate itself are read from the
 * database as long as there is a reader, all in one statement.
 */
export type FollowedResponses = {
  /** Undefined for a response without followers. */
  find(organization: string, id: string): LiveResponse | undefined
  /**
   * Applies the events that come to the response, until the returned function is called. `pieces`: how many pieces of its
   * log it has.
   */
  follow(live: LiveResponse, pieces: number): () => void
}

type FollowDependencies = {
  readonly peers: Pick<Peers, 'count'>
  readonly runs: Pick<RunStore, 'progress'>
  readonly responses: Pick<Responses, 'find'>
  /** The responses that this process generates: these need not be read. */
  readonly live: LiveResponses
  readonly log: Log
}

const intervalMs = 30
/** The interval while the database is unavailable. */
const outageIntervalMs = 1000
/** The most responses that one statement reads. */
const maxRead = 100

/** `position`: that of the next piece. `events`: how many are in the row and in the pieces before it. */
type Followed = {
  readonly live: LiveResponse
  readonly readers: Set<symbol>
  position: number
  events: number
}

/** No followed responses. */
export function createFollowedResponses(parts: FollowDependencies): FollowedResponses {
  const followed = new Map<LiveResponse, Followed>()
  let reading = false

  async function readWhileFollowed(): Promise<void> {
    while (followed.size > 0) await readOnce([...followed.values()], parts)
    reading = false
  }

  function release(entry: Followed, reader: symbol): void {
    entry.readers.delete(reader)
    if (entry.readers.size === 0) followed.delete(entry.live)
  }

  return {
    find: (organization, id) =>
      followed.keys().find((live) => live.id === id && live.organization === organization),
    follow(live, pieces) {
      const entry = followed.get(live) ?? newEntry(live, pieces)
      followed.set(live, entry)
      const reader = Symbol()
      entry.readers.add(reader)
      if (!reading) void readWhileFollowed()
      reading = true
      return () => release(entry, reader)
    },
  }
}

/** Reads all followed responses, and waits until it is time to read them again. */
async function readOnce(entries: readonly Followed[], parts: FollowDependencies): Promise<void> {
  try {
    const more = await readAll(entries, parts)
    await (more ? nextTurn() : Bun.sleep(intervalMs))
  } catch (error) {
    parts.log.warn('The events of background runs could not be read yet.', { cause: causeOf(error) })
    await Bun.sleep(outageIntervalMs)
  }
}

/** The row of a run has its first event, and the pieces have the others. */
function newEntry(live: LiveResponse, pieces: number): Followed {
  return { live, readers: new Set(), position: pieces, events: pieces > 0 ? live.events.length : 1 }
}

/** Whether the events come from the database: another process may have claimed a run that is queued here. */
function isElsewhere(live: LiveResponse, { live: registry, peers }: FollowDependencies): boolean {
  const { organization, id } = live
  if (registry.find(organization, id) === live) return false
  return peers.count() > 1 || registry.findQueued(organization, id) !== live
}

/** Resolves with whether more pieces are stored already. */
async function readAll(entries: readonly Followed[], parts: FollowDependencies): Promise<boolean> {
  const due = entries.filter(({ live }) => !live.finished && isElsewhere(live, parts))
  let more = false
  for (const batch of batchesOf(due)) {
    const keys = batch
      .values()
      .map(({ live: { organization, id }, position }) => ({ organization, id, position }))
    const found = await parts.runs.progress([...keys])
    const progressOf = new Map(found.map((progress) => [progress.id, progress]))
    for (const [id, entry] of batch) await advance(entry, progressOf.get(id), parts)
    if (found.some(({ pieces }) => pieces.length === maxPieces)) more = true
  }
  return more
}

/** A response that this process had to read again has more than one entry: each is in a batch of its own. */
function* batchesOf(entries: readonly Followed[]): Generator<ReadonlyMap<string, Followed>> {
  let batch = new Map<string, Followed>()
  for (const entry of entries) {
    if (batch.size === maxRead || batch.has(entry.live.id)) {
      yield batch
      batch = new Map()
    }
    batch.set(entry.live.id, entry)
  }
  if (batch.size > 0) yield batch
}

/** Applies what is new; a response that was deleted ends like a cancelled one. */
async function advance(
  entry: Followed,
  progress: RunProgress | undefined,
  { responses }: FollowDependencies,
): Promise<void> {
  const { live } = entry
  try {
    if (progress?.status === 'queued' || progress?.status === 'in_progress')
      return applyPieces(entry, progress.pieces)
    const stored = progress && (await responses.find(live.organization, live.id))
    if (stored) await applyLog(live, stored.log)
    live.apply({ type: 'cancelled', usage: null })
  } catch (error) {
    if (error instanceof ApiError) throw error
    live.apply(toRunEnd(unreadableRun(), null))
  }
}

/** Skips events that the response has already, because this process has executed its run. */
function applyPieces(entry: Followed, pieces: readonly string[]): void {
  for (const piece of pieces)
    for (const event of decodeEvents(piece))
      if (entry.events++ >= entry.live.events.length) entry.live.apply(event)
  entry.position += pieces.length
  entry.live.markStored(entry.events)
}

/** The events that are read in one turn of the event loop. */
const turnEvents = 1000

async function applyLog(live: LiveResponse, log: string): Promise<void> {
  // Events that this process has not stored may be others there.
  if (live.readable < live.events.length) return live.endAs(decodeEvents(log))
  let index = 0
  for (const event of readEvents(log)) {
    if (index >= live.events.length) live.apply(event)
    if (++index % turnEvents === 0) await nextTurn()
  }
}

/** Streams the events of a response, whichever process generates it, until the stream is closed. */
export function streamFollowed(
  live: LiveResponse,
  pieces: number,
  followed: FollowedResponses,
  options: ReplayOptions,
): ResponseEventStream {
  return streamLive(live, options, followed.follow(live, pieces))
}
