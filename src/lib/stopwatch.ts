/** Adds up the time of waits that follow each other. */
export type Stopwatch = {
  start(): void
  /** Ends the wait, if one is under way. */
  stop(): void
  /** The sum of the waits that have ended. */
  milliseconds(): number
  /** The same, with the wait that is under way. */
  soFar(): number
}

export function createStopwatch(now: () => number = () => performance.now()): Stopwatch {
  let sum = 0
  let startedAt: number | undefined
  return {
    start: () => void (startedAt ??= now()),
    stop() {
      if (startedAt !== undefined) sum += now() - startedAt
      startedAt = undefined
    },
    milliseconds: () => sum,
    soFar: () => (startedAt === undefined ? sum : sum + now() - startedAt),
  }
}
