import { TooLongError } from './read-text.ts'

/** A server-sent event: its `event:` field, empty if it has none, and its data lines joined. */
export type SseEvent = { readonly event: string; readonly data: string }

/** Characters. No model sends a longer event; reading on would only fill the memory. */
const maxEventLength = 32 * 1024 * 1024

/** Characters that each line of data counts in addition to its own, because it takes as much memory. */
const costOfLine = 64

/**
 * Parses a byte stream of server-sent events that can be cut anywhere: inside a character, between CR and LF, between two
 * lines. Supports LF, CRLF and CR, comments, and `data:` without a space.
 */
export class SseParser {
  readonly #decoder = new TextDecoder()
  /** An incomplete line. */
  #pending = ''
  /** Whether the pending text ends with a CR that an LF may follow. */
  #pendingCr = false
  /** The fields of an incomplete event. */
  #event = ''
  #data: string | undefined
  #dataLines = 0

  /** Returns the events that these bytes complete. */
  push(bytes: Uint8Array): SseEvent[] {
    return this.#parse(this.#decoder.decode(bytes, { stream: true }), false)
  }

  /** Returns the event that the end of the body completes: some providers omit the last blank line. */
  end(): SseEvent[] {
    return this.#parse(`${this.#decoder.decode()}\n\n`, true)
  }

  #parse(text: string, last: boolean): SseEvent[] {
    const events: SseEvent[] = []
    // Lines are parsed once complete: searching all of the pending text for each piece would take quadratic time.
    if (last || this.#pendingCr || /[\r\n]/.test(text)) this.#parseLines(this.#pending + text, last, events)
    else this.#pending += text
    const dataLength = (this.#data?.length ?? 0) + this.#dataLines * costOfLine
    const eventLength = this.#pending.length + dataLength
    if (eventLength > maxEventLength) throw new TooLongError('A server-sent event is too long.')
    return events
  }

  #parseLines(text: string, last: boolean, events: SseEvent[]): void {
    let start = 0
    // The pending text contains no line end, except a CR at its end that an LF may follow.
    let from = Math.max(0, this.#pending.length - 1)
    const nextLineEnd = text.includes('\r') ? indexOfLineEnd : indexOfLineFeed
    for (let end = nextLineEnd(text, from); end >= 0; end = nextLineEnd(text, from)) {
      if (!last && text[end] === '\r' && end === text.length - 1) break
      this.#parseLine(text, start, end, events)
      start = text[end] === '\r' && text[end + 1] === '\n' ? end + 2 : end + 1
      from = start
    }
    this.#pending = text.slice(start)
    this.#pendingCr = this.#pending.endsWith('\r')
  }

  /** Parses the line from `start` to `end` where it stands: a string of its own for each line would cost more than the rest. */
  #parseLine(text: string, start: number, end: number, events: SseEvent[]): void {
    if (start === end) {
      if (this.#data !== undefined) events.push({ event: this.#event, data: this.#data })
      this.#event = ''
      this.#data = undefined
      this.#dataLines = 0
    } else if (text.startsWith('data:', start)) {
      const value = valueIn(text, start + 5, end)
      this.#data = this.#data === undefined ? value : `${this.#data}\n${value}`
      this.#dataLines += 1
    } else if (text.startsWith('event:', start)) this.#event = valueIn(text, start + 6, end)
  }
}

function indexOfLineFeed(text: string, from: number): number {
  return text.indexOf('\n', from)
}

/** A loop, because separate searches for CR and LF would run to the end of the text for each line. */
function indexOfLineEnd(text: string, from: number): number {
  for (let index = from; index < text.length; index++) {
    const code = text.charCodeAt(index)
    if (code === 10 || code === 13) return index
  }
  return -1
}

/** The value of a field, without the space that may precede it. */
function valueIn(text: string, start: number, end: number): string {
  return text.slice(text[start] === ' ' ? start + 1 : start, end)
}
