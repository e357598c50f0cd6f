/** What is known of the failures of requests until their lines are written, so that no failure is reported twice. */
export type FailureNotes = {
  /** Keeps the text for the line of the request; false where requests have no lines: it is to be written elsewhere. */
  add(request: string, text: string): boolean
  /** Calls back with the text about the request, as soon as it is there, and without one after a moment. */
  take(request: string, done: (text?: string) => void): void
  /** Calls back whoever waits. */
  flush(): void
}

/** Milliseconds. The log hears of a stream that broke just after the request has ended. */
const takeTimeoutMs = 50

/** Keeps texts of so many requests at most: beyond it the oldest is forgotten. */
export function createFailureNotes(areLogged: () => boolean, maxRequests = 1000): FailureNotes {
  const notes = new Map<string, string>()
  const waiting = new Map<string, (text?: string) => void>()
  return {
    add(request, text) {
      if (!areLogged()) return false
      const taker = waiting.get(request)
      if (taker !== undefined) taker(text)
      else notes.set(request, text)
      for (const oldest of notes.size > maxRequests ? notes.keys().take(1) : []) notes.delete(oldest)
      return true
    },
    take(request, done) {
      const text = notes.get(request)
      if (notes.delete(request)) return done(text)
      const finish = (text?: string) => {
        clearTimeout(timer)
        waiting.delete(request)
        done(text)
      }
      const timer = setTimeout(finish, takeTimeoutMs)
      waiting.set(request, finish)
    },
    flush() {
      for (const finish of waiting.values()) finish()
    },
  }
}
