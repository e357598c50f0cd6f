import type { RunEvent } from './run-event.ts'

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
