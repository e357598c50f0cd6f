import { ApiError, unreadableRun } from '../../../lib/errors/errors.ts'
import { causeOf, type Log } from '../../../lib/log.ts'
import { nextTurn } from '../../../lib/time.ts'
import type { Responses } from '../../../storage/ports/responses.ts'
import { maxPieces, type RunClaims, type RunProgress } from '../../../storage/ports/run-claims.ts'
import { decodeEvents, readEvents } from '../events/event-log.ts'
import { toRunEnd } from '../events/run-event.ts'
import type { LiveResponse } from './live-response.ts'
import type { LiveResponses } from './live-responses.ts'
import { type ReplayOptions, type ResponseEventStream, streamLive } from './replay.ts'

/**
 * The responses of background runs that other processes may execute, for those who read their events here. They are read
 * from the database as long as there is a reader, all in one statement.
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

export type FollowDependencies = {
  readonly claims: Pick<RunClaims, 'progress'>
  readonly responses: Pick<Responses, 'find'>
  /** The responses that this process executes: these need not be read. */
  readonly live: LiveResponses
  readonly log: Log
}

const defaultIntervalMs = 30
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
export function createFollowedResponses(
  parts: FollowDependencies,
  intervalMs = defaultIntervalMs,
): FollowedResponses {
  const followed = new Map<string, Followed>()
  let reading = false

  async function readWhileFollowed(): Promise<void> {
    while (followed.size > 0) await readOnce([...followed.values()], parts, intervalMs)
    reading = false
  }

  function release(entry: Followed, reader: symbol): void {
    entry.readers.delete(reader)
    if (entry.readers.size === 0 && followed.get(entry.live.id) === entry) followed.delete(entry.live.id)
  }

  return {
    find(organization, id) {
      const live = followed.get(id)?.live
      return live?.organization === organization ? live : undefined
    },
    follow(live, pieces) {
      const entry = followed.get(live.id) ?? newEntry(live, pieces)
      followed.set(live.id, entry)
      const reader = Symbol()
      entry.readers.add(reader)
      if (!reading) void readWhileFollowed()
      reading = true
      return () => release(entry, reader)
    },
  }
}

/** Reads all followed responses, and waits until it is time to read them again. */
async function readOnce(
  entries: readonly Followed[],
  parts: FollowDependencies,
  intervalMs: number,
): Promise<void> {
  try {
    const more = await readAll(entries, parts)
    await (more ? nextTurn() : Bun.sleep(intervalMs))
  } catch (error) {
    parts.log.warn('The events of background runs could not be read yet.', { cause: causeOf(error) })
    await Bun.sleep(outageIntervalMs)
  }
}

function newEntry(live: LiveResponse, pieces: number): Followed {
  return { live, readers: new Set(), position: pieces, events: live.events.length }
}

/** Resolves with whether more pieces are stored already. */
async function readAll(entries: readonly Followed[], parts: FollowDependencies): Promise<boolean> {
  const { live: registry, claims } = parts
  const due = entries.filter(
    ({ live }) => !live.finished && registry.find(live.organization, live.id) !== live,
  )
  let more = false
  for (let start = 0; start < due.length; start += maxRead) {
    const read = due.slice(start, start + maxRead)
    const keys = read.map(({ live: { organization, id }, position }) => ({ organization, id, position }))
    const found = new Map((await claims.progress(keys)).map((progress) => [progress.id, progress]))
    for (const entry of read) {
      const progress = found.get(entry.live.id)
      await advance(entry, progress, parts)
      if (progress?.pieces.length === maxPieces) more = true
    }
  }
  return more
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
  let index = 0
  for (const event of readEvents(log)) {
    if (index >= live.events.length) live.apply(event)
    if (++index % turnEvents === 0) await nextTurn()
  }
}

/** Where a process that is not alone finds the runs that it does not execute. */
export type SharedResponses = {
  /** The queued runs of this process, which another one may claim. */
  readonly waiting: LiveResponses
  readonly followed: FollowedResponses
}

/** Streams the events of a response that another process may execute, until the stream is closed. */
export function streamFollowed(
  live: LiveResponse,
  pieces: number,
  { followed }: SharedResponses,
  options: ReplayOptions,
): ResponseEventStream {
  const unfollow = followed.follow(live, pieces)
  const { items, ...source } = streamLive(live, options)
  const close = () => {
    items.close()
    unfollow()
  }
  return { ...source, items: { forEach: (onBatch) => items.forEach(onBatch), close } }
}
