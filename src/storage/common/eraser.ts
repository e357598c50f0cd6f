/** Responses that are erased later, because another process may still need them. */
type DelayedErasure = {
  /** Whether anything is due, now or later. */
  hasDueLater(): Promise<boolean>
  /** The milliseconds until it is tried again. */
  readonly delayMs: number
}

/**
 * Returns a function that starts erasing in the background, one step per transaction, so that requests run between them.
 * `eraseDue` does one step and resolves with 0 if nothing is due. What is not erased because the database was closed or
 * failed is left to the next removal, or to the next start. With `delayed`, it is repeated until nothing is due later.
 */
export function createEraser(eraseDue: () => Promise<number>, delayed?: DelayedErasure): () => void {
  let erasing = false
  let requested = false
  let timer: Timer | undefined

  async function eraseAll(): Promise<void> {
    try {
      // What became due during a step that found nothing is erased by one more.
      while (requested) {
        requested = false
        while ((await eraseDue()) > 0);
      }
      if (delayed && delayed.delayMs > 0 && (await delayed.hasDueLater())) scheduleNext(delayed.delayMs)
    } catch {
      // No caller waits for it, and nothing is lost.
    }
    erasing = false
  }

  function startErasing(): void {
    requested = true
    if (erasing) return
    erasing = true
    void eraseAll()
  }

  function scheduleNext(delayMs: number): void {
    timer ??= setTimeout(() => {
      timer = undefined
      startErasing()
    }, delayMs).unref()
  }

  return startErasing
}
