/** Calls back when nothing was heard for too long. */
export type Watchdog = {
  /** Something was heard: the wait begins anew, for `milliseconds` from now on if given. */
  touch(milliseconds?: number): void
  stop(): void
}

/**
 * A deadline that moves with each piece of a stream. Setting a timer for each piece would cost more than the
 * piece: one timer runs, and looks at its end whether it is due.
 */
export function createWatchdog(milliseconds: number, expired: () => void): Watchdog {
  let wait = milliseconds
  let due = performance.now() + wait
  let timer: Timer | undefined = setTimeout(look, wait)

  function look(): void {
    const left = due - performance.now()
    timer = left > 1 ? setTimeout(look, left) : undefined
    if (timer === undefined) expired()
  }

  return {
    touch(next = wait) {
      due = performance.now() + next
      // A timer that runs is early enough, unless the wait has become shorter.
      if (timer !== undefined && next >= wait) return
      clearTimeout(timer)
      wait = next
      timer = setTimeout(look, next)
    },
    stop() {
      clearTimeout(timer)
      timer = undefined
    },
  }
}
