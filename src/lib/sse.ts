import { TooLong } from './read-text.ts'

/** One server-sent event: its `event:` word, empty if it has none, and its data lines joined. */
export type SseEvent = { readonly event: string; readonly data: string }

export type SseParser = {
  /** The events that these bytes complete. */
  push(bytes: Uint8Array): SseEvent[]
  /** The event that the end of the body completes: some providers leave out the last blank line. */
  end(): SseEvent[]
}

/** In characters. A longer event is no answer of a model; reading on would only fill the memory. */
const longestEvent = 32 * 1024 * 1024

/**
 * Reads a byte stream as server-sent events, cut wherever it may be: inside a character, between CR and LF,
 * between two lines. Takes LF, CRLF and CR, comments, and `data:` without a space.
 */
export function createSseParser(): SseParser {
  return new EventReader()
}

class EventReader implements SseParser {
  readonly #decoder = new TextDecoder()
  /** A line that has not ended yet. */
  #pending = ''
  /** Whether what is pending ends with a CR whose LF may still come. */
  #waiting = false
  /** What the lines of the event have said that is not complete yet. */
  #event = ''
  #data: string | undefined

  push(bytes: Uint8Array): SseEvent[] {
    return this.#take(this.#decoder.decode(bytes, { stream: true }), false)
  }

  end(): SseEvent[] {
    return this.#take(`${this.#decoder.decode()}\n\n`, true)
  }

  #take(added: string, last: boolean): SseEvent[] {
    const events: SseEvent[] = []
    // Put together once its line ends: looking through all of it for each piece would take ever longer.
    if (last || this.#waiting || /[\r\n]/.test(added)) this.#takeLines(this.#pending + added, last, events)
    else this.#pending += added
    const held = this.#pending.length + (this.#data?.length ?? 0)
    if (held > longestEvent) throw new TooLong('A server-sent event is too long.')
    return events
  }

  #takeLines(text: string, last: boolean, events: SseEvent[]): void {
    let start = 0
    // What was pending has no line end, but for a CR at its very end that waited for its LF.
    let from = Math.max(0, this.#pending.length - 1)
    const nextEnd = text.includes('\r') ? lineEnd : feedIn
    for (let end = nextEnd(text, from); end >= 0; end = nextEnd(text, from)) {
      if (!last && text[end] === '\r' && end === text.length - 1) break
      this.#takeLine(text.slice(start, end), events)
      start = text[end] === '\r' && text[end + 1] === '\n' ? end + 2 : end + 1
      from = start
    }
    this.#pending = text.slice(start)
    this.#waiting = this.#pending.endsWith('\r')
  }

  #takeLine(line: string, events: SseEvent[]): void {
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

function feedIn(text: string, from: number): number {
  return text.indexOf('\n', from)
}

/** A loop, because searching for CR and LF apart would run to the end of the text for each line. */
function lineEnd(text: string, from: number): number {
  for (let index = from; index < text.length; index++) {
    const code = text.charCodeAt(index)
    if (code === 10 || code === 13) return index
  }
  return -1
}

function valueAfter(line: string, colon: number): string {
  return line.slice(line[colon] === ' ' ? colon + 1 : colon)
}
