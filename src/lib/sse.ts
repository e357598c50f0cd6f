import { TooLongError } from './read-text.ts'

/** A server-sent event: its `event:` field, empty if it has none, and its data lines joined. */
export type SseEvent = { readonly event: string; readonly data: string }

/** Characters. No model sends a longer event; reading on would only fill the memory. */
const maxEventLength = 32 * 1024 * 1024

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
    const eventLength = this.#pending.length + (this.#data?.length ?? 0)
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
      this.#parseLine(text.slice(start, end), events)
      start = text[end] === '\r' && text[end + 1] === '\n' ? end + 2 : end + 1
      from = start
    }
    this.#pending = text.slice(start)
    this.#pendingCr = this.#pending.endsWith('\r')
  }

  #parseLine(line: string, events: SseEvent[]): void {
    if (line === '') {
      if (this.#data !== undefined) events.push({ event: this.#event, data: this.#data })
      this.#event = ''
      this.#data = undefined
    } else if (line.startsWith('data:')) {
      const value = valueAfter(line, 5)
      this.#data = this.#data === undefined ? value : `${this.#data}\n${value}`
    } else if (line.startsWith('event:')) this.#event = valueAfter(line, 6)
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

function valueAfter(line: string, colon: number): string {
  return line.slice(line[colon] === ' ' ? colon + 1 : colon)
}
