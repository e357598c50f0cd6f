import type { ResponseHead } from '../request/head.ts'
import { step } from './reduce.ts'
import type { RunEvent } from './run-event.ts'
import { initialState, type ResponseState } from './state.ts'

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

/** Something that happened, as the log keeps it: pieces of the answer that follow each other are one stretch. */
export type LogEntry = Exclude<RunEvent, Piece> | Stretch

type Piece = Extract<RunEvent, { readonly type: 'text' | 'reasoning' }>

/** Pieces of one kind, joined; `lengths` of each in UTF-16 units, absent where there is but one. */
type Stretch = Piece & { readonly lengths?: readonly number[] }

/** What happened, as entries. */
export function toEntries(events: Iterable<RunEvent>): readonly LogEntry[] {
  const groups: Group[] = []
  for (const event of events) {
    const last = groups.at(-1)
    if (!isPiece(event)) groups.push(event)
    else if (last?.type === event.type) last.pieces.push(event.text)
    else groups.push({ type: event.type, pieces: [event.text] })
  }
  return groups.map(toEntry)
}

/** What happened of which this entry was made, piece by piece. */
export function* eventsOf(entry: LogEntry): Generator<RunEvent, void> {
  if (!isPiece(entry) || entry.lengths === undefined) return yield entry
  const { type, text, lengths } = entry
  let end = 0
  for (const length of lengths) yield { type, text: text.slice(end, (end += length)) }
}

/** How many pieces of this entry say something. */
export function piecesIn(entry: LogEntry): number {
  if (!isPiece(entry)) return 0
  const lengths = entry.lengths ?? [entry.text.length]
  return lengths.reduce((pieces, length) => (length > 0 ? pieces + 1 : pieces), 0)
}

type Group =
  | Exclude<RunEvent, Piece>
  | { readonly type: 'text'; readonly pieces: string[] }
  | { readonly type: 'reasoning'; readonly pieces: string[] }

function isPiece<Event extends { readonly type: string }>(
  event: Event,
): event is Extract<Event, { readonly type: 'text' | 'reasoning' }> {
  return event.type === 'text' || event.type === 'reasoning'
}

function toEntry(group: Group): LogEntry {
  if (!('pieces' in group)) return group
  const { type, pieces } = group
  const text = pieces.join('')
  return pieces.length === 1 ? { type, text } : { type, text, lengths: pieces.map(({ length }) => length) }
}
