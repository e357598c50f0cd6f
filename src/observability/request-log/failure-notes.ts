import { RecentMap } from '../../lib/recent-map.ts'

/** Holds the causes of failed requests until their lines are written, so that no failure is logged twice. */
export type FailureNotes = ReturnType<typeof createFailureNotes>

/** A stream that broke is logged just after its request has finished. */
const takeTimeoutMs = 50

/** Creates notes that hold the texts of at most `maxRequests` requests: beyond that the oldest is dropped. */
export function createFailureNotes(areLogged: () => boolean, maxRequests = 1000) {
  const notes = new RecentMap<string, string>(maxRequests)
  const waiting = new Map<string, (text?: string) => void>()
  return {
    /** Stores the text for the line of the request; returns false if requests are not logged: the caller logs it then. */
    add(request: string, text: string): boolean {
      if (!areLogged()) return false
      const finish = waiting.get(request)
      if (finish !== undefined) finish(text)
      else notes.set(request, text)
      return true
    },
    /** Calls `done` with the text as soon as it is added, or without one after a short timeout. */
    take(request: string, done: (text?: string) => void): void {
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
    /** Ends all waits: their callbacks are called without a text. */
    flush(): void {
      for (const finish of waiting.values()) finish()
    },
  }
}
