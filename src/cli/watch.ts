import { wait } from '../lib/time.ts'
import type { CliContext, Terminal } from './args.ts'

/** Milliseconds between the end of one text and the beginning of the next. */
const intervalMs = 2000

/**
 * Prints the text again and again, on a terminal in place of the last one, until Ctrl-C, or until nobody reads it. The
 * text is asked for the size of the terminal at that moment.
 */
export async function watch(
  text: () => Promise<string>,
  world: CliContext,
  screen?: Terminal,
): Promise<void> {
  const interrupted = new AbortController()
  const interrupt = () => interrupted.abort()
  process.on('SIGINT', interrupt)
  process.on('SIGTERM', interrupt)
  const ends = [interrupted.signal, world.signal, world.unread].filter((signal) => signal !== undefined)
  const end = AbortSignal.any(ends)
  screen?.write('\u001b[2J')
  try {
    while (!end.aborted) {
      const next = await text()
      if (screen === undefined) world.out(next)
      else screen.write(frame(next, screen))
      // It rejects only where the watch is to end.
      await wait(intervalMs, end).catch(() => {})
    }
  } finally {
    process.off('SIGINT', interrupt)
    process.off('SIGTERM', interrupt)
  }
}

/** From the upper left corner; each line clears what is left of the last frame, and none makes the screen scroll. */
function frame(text: string, screen: Terminal): string {
  const room = Math.max(1, screen.size().rows - 1)
  const lines = text.split('\n')
  const shown =
    lines.length <= room ? lines : [...lines.slice(0, room - 1), `… ${lines.length - room + 1} more lines`]
  return `\u001b[H${shown.map((line) => `${line}\u001b[K\n`).join('')}\u001b[J`
}
