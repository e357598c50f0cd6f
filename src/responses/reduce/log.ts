import type { ResponseHead } from '../request/head.ts'
import { type LogEntry, eventsOf, piecesIn, toEntries } from './log-entry.ts'
import type { RunEvent } from './run-event.ts'
import { initialState, type ResponseState } from './state.ts'
import { step } from './step.ts'

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
  return entriesOf(log).reduce(withEntry, initialState(head))
}

function entriesOf(log: string): readonly LogEntry[] {
  return log
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as LogEntry)
}

/** The same response, also in its numbers, as one step for each piece would make. */
function withEntry(state: ResponseState, entry: LogEntry): ResponseState {
  const [next] = step(state, entry)
  const untold = piecesIn(entry) - 1
  return next === state || untold < 1 ? next : { ...next, sequence: next.sequence + untold }
}
