import type { ResponseHead } from '../request/head.ts'
import { type LogEntry, eventsOf, piecesIn, toEntries } from './log-entry.ts'
import type { RunEvent } from './run-event.ts'
import { initialState, type ResponseState } from './state.ts'
import { step } from './step.ts'
import type { StreamEvent } from './stream-event.ts'

/**
 * What happened, as text to be stored: a line of JSON for each entry. Logs of events that follow each other are
 * simply joined. Half a surrogate pair is escaped, and so outlives UTF-8.
 */
export function encodeEvents(events: Iterable<RunEvent>): string {
  return toEntries(events)
    .map((entry) => `${JSON.stringify(entry)}\n`)
    .join('')
}

/** What happened, piece by piece, read from what was stored. */
export function decodeEvents(log: string): RunEvent[] {
  return entriesOf(log).flatMap(eventsOf)
}

/** The response that a stored log has made, without going through its pieces. */
export function foldLog(head: ResponseHead, log: string): ResponseState {
  return fold(head, entriesOf(log))
}

/** The response that these events have made, without going through their pieces. */
export function foldEvents(head: ResponseHead, events: Iterable<RunEvent>): ResponseState {
  return fold(head, toEntries(events))
}

/** What the readers of the stream were told, from behind the event of this number, else from the start. */
export function* replay(
  head: ResponseHead,
  events: Iterable<RunEvent>,
  after: number = -1,
): Generator<StreamEvent> {
  let state = initialState(head)
  for (const event of events) {
    const [next, told] = step(state, event)
    state = next
    for (const item of told) if (item.sequence_number > after) yield item
  }
}

function entriesOf(log: string): readonly LogEntry[] {
  return log
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as LogEntry)
}

function fold(head: ResponseHead, entries: readonly LogEntry[]): ResponseState {
  return entries.reduce(withEntry, initialState(head))
}

/** The same response, also in its numbers, as one step for each piece would make. */
function withEntry(state: ResponseState, entry: LogEntry): ResponseState {
  const [next] = step(state, entry)
  const untold = piecesIn(entry) - 1
  return next === state || untold < 1 ? next : { ...next, sequence: next.sequence + untold }
}
