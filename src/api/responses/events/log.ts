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

/** What happened, piece by piece, read from what was stored as far as it is asked for. */
export function* eventsIn(log: string): Generator<RunEvent, void> {
  for (const entry of entriesOf(log)) yield* eventsOf(entry)
}

/** All of that. */
export function decodeEvents(log: string): RunEvent[] {
  return [...eventsIn(log)]
}

/** The response that a stored log has made, without going through its pieces. */
export function foldLog(head: ResponseHead, log: string): ResponseState {
  let state = initialState(head)
  for (const entry of entriesOf(log)) state = withEntry(state, entry)
  return state
}

function* entriesOf(log: string): Generator<LogEntry, void> {
  for (const line of log.split('\n')) if (line !== '') yield JSON.parse(line) as LogEntry
}

/** The same response, also in its numbers, as one step for each piece would make. */
function withEntry(state: ResponseState, entry: LogEntry): ResponseState {
  const [next] = step(state, entry)
  const untold = piecesIn(entry) - 1
  return next === state || untold < 1 ? next : { ...next, sequence: next.sequence + untold }
}
