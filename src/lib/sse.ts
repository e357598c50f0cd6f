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
  const decoder = new TextDecoder()
  const lines = createLineReader()
  let pending = ''
  /** Whether what is pending ends with a CR whose LF may still come. */
  let waiting = false

  function take(added: string, last: boolean): SseEvent[] {
    const events: SseEvent[] = []
    // Put together once its line ends: looking through all of it for each piece would take ever longer.
    if (last || waiting || /[\r\n]/.test(added)) takeLines(pending + added, last, events)
    else pending += added
    if (pending.length + lines.held() > longestEvent) throw new Error('A server-sent event is too long.')
    return events
  }

  function takeLines(text: string, last: boolean, events: SseEvent[]): void {
    let start = 0
    // What was pending has no line end, but for a CR at its very end that waited for its LF.
    let from = Math.max(0, pending.length - 1)
    const nextEnd = text.includes('\r') ? lineEnd : feedIn
    for (let end = nextEnd(text, from); end >= 0; end = nextEnd(text, from)) {
      if (!last && text[end] === '\r' && end === text.length - 1) break
      lines.take(text.slice(start, end), events)
      start = text[end] === '\r' && text[end + 1] === '\n' ? end + 2 : end + 1
      from = start
    }
    pending = text.slice(start)
    waiting = pending.endsWith('\r')
  }

  return {
    push: (bytes) => take(decoder.decode(bytes, { stream: true }), false),
    end: () => take(`${decoder.decode()}\n\n`, true),
  }
}

/** Puts lines together to events. */
function createLineReader() {
  let event = ''
  let data: string | undefined

  function take(line: string, events: SseEvent[]): void {
    if (line === '') {
      if (data !== undefined) events.push({ event, data })
      event = ''
      data = undefined
    } else if (line.startsWith('data:')) {
      const value = valueAfter(line, 5)
      data = data === undefined ? value : `${data}\n${value}`
    } else if (line.startsWith('event:')) event = valueAfter(line, 6)
  }

  return { take, held: () => data?.length ?? 0 }
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
