/** What erases responses in the background. */
export type ErasureSteps = {
  /** Does one step of erasing what is due; resolves with 0 if nothing is. */
  eraseDue(): Promise<number>
  /** Whether anything is due, now or later. */
  hasDueLater(): Promise<boolean>
}

/**
 * Returns a function that starts erasing in the background, one step per transaction, so that requests run between them.
 * What is not erased because the database was closed or failed is left to the next removal, or to the next start. With a
 * delay, it is repeated until nothing is due later.
 */
export function createEraser({ eraseDue, hasDueLater }: ErasureSteps, delayMs: number): () => void {
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
      if (delayMs > 0 && (await hasDueLater())) scheduleNext()
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

  function scheduleNext(): void {
    timer ??= setTimeout(() => {
      timer = undefined
      startErasing()
    }, delayMs).unref()
  }

  return startErasing
}
