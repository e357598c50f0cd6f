import type { ResponseHead } from '../request/head.ts'
import { step } from './reduce.ts'
import type { RunEvent } from './run-event.ts'
import { initialState, type ResponseState } from './state.ts'

/**
 * Encodes events as a log: one line of JSON for each entry. Logs of consecutive events can be concatenated. JSON escapes
 * a lone surrogate, which UTF-8 could not store.
 */
export function encodeEvents(events: Iterable<RunEvent>): string {
  return toEntries(events)
    .map((entry) => `${JSON.stringify(entry)}\n`)
    .join('')
}

/** Reads the events of a log lazily, with every delta as it was emitted. */
export function* readEvents(log: string): Generator<RunEvent, void> {
  for (const entry of readEntries(log)) yield* toEvents(entry)
}

/** Decodes all events of a log. */
export function decodeEvents(log: string): RunEvent[] {
  return [...readEvents(log)]
}

/** The state of a response after all events of its log; it takes one step for each entry, not for each delta. */
export function foldLog(head: ResponseHead, log: string): ResponseState {
  let state = initialState(head)
  for (const entry of readEntries(log)) state = applyEntry(state, entry)
  return state
}

/** Leaves out the answer that is void because another one has started. */
function* readEntries(log: string): Generator<LogEntry, void> {
  const lines = log.split('\n')
  const restart = lines.findLastIndex((line) => begins(line, 'restarted'))
  const beginning = restart < 0 ? restart : lines.findIndex((line) => begins(line, 'answering'))
  for (const [index, line] of lines.entries())
    if (line !== '' && (index <= beginning || index >= restart)) yield JSON.parse(line) as LogEntry
}

/** Every entry begins with its type. */
function begins(line: string, type: RunEvent['type']): boolean {
  return line.startsWith(`{"type":"${type}"`)
}

/** The same state, with the same sequence number, as one step for each delta would make. */
function applyEntry(state: ResponseState, entry: LogEntry): ResponseState {
  const [next] = step(state, entry)
  const moreDeltas = countDeltas(entry) - 1
  return next === state || moreDeltas < 1 ? next : { ...next, sequence: next.sequence + moreDeltas }
}

/** An entry of the log: an event, or consecutive deltas of one type joined. */
type LogEntry = Exclude<RunEvent, Delta> | JoinedDeltas

type DeltaType = 'text' | 'reasoning' | 'call-delta'

type Delta = Extract<RunEvent, { readonly type: DeltaType }>

/** Deltas of one type; `lengths` has that of each in UTF-16 units, and is absent for a single delta. */
type JoinedDeltas = Delta & { readonly lengths?: readonly number[] }

/** Joins consecutive deltas, so that each entry can be stored as one line. */
function toEntries(events: Iterable<RunEvent>): readonly LogEntry[] {
  const groups: Group[] = []
  for (const event of events) {
    const last = groups.at(-1)
    if (!isDelta(event)) groups.push(event)
    else if (last?.type === event.type) last.deltas.push(event.text)
    else groups.push({ type: event.type, deltas: [event.text] })
  }
  return groups.map(toEntry)
}

/** The events of an entry, with every delta on its own. */
function* toEvents(entry: LogEntry): Generator<RunEvent, void> {
  if (!isDelta(entry) || entry.lengths === undefined) return yield entry
  const { type, text, lengths } = entry
  let end = 0
  for (const length of lengths) yield { type, text: text.slice(end, (end += length)) }
}

/** The number of deltas of an entry that are not empty. */
function countDeltas(entry: LogEntry): number {
  if (!isDelta(entry)) return 0
  const lengths = entry.lengths ?? [entry.text.length]
  return lengths.reduce((count, length) => (length > 0 ? count + 1 : count), 0)
}

type Group = Exclude<RunEvent, Delta> | { readonly type: DeltaType; readonly deltas: string[] }

function isDelta<Event extends { readonly type: string }>(
  event: Event,
): event is Extract<Event, { readonly type: DeltaType }> {
  return event.type === 'text' || event.type === 'reasoning' || event.type === 'call-delta'
}

function toEntry(group: Group): LogEntry {
  if (!('deltas' in group)) return group
  const { type, deltas } = group
  const text = deltas.join('')
  return deltas.length === 1 ? { type, text } : { type, text, lengths: deltas.map(({ length }) => length) }
}
