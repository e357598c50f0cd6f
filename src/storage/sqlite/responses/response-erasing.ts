import type { Removals } from './response-removal.ts'
import type { Writer } from '../writer/writer.ts'

/**
 * Erases in the background what removals have left, a step a transaction, so that requests come between them. What a
 * closed or a broken database does not erase is left to the next removal, or to the next start.
 */
export function createErasing(writer: Writer, removals: Removals): () => void {
  let erasing = false

  async function eraseAll(): Promise<void> {
    try {
      while (removals.due()) await writer.write(removals.erase)
    } catch {
      // Nobody waits for it, and nothing is lost.
    }
    erasing = false
  }

  return () => {
    if (erasing) return
    erasing = true
    void eraseAll()
  }
}
