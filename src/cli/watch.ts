import { wait } from '../lib/time.ts'
import type { CliContext, Terminal } from './context.ts'

/** Milliseconds between the end of one text and the beginning of the next. */
const watchIntervalMs = 2000

/**
 * Prints the text again and again, on a terminal in place of the last one, until Ctrl-C, or until nobody reads it. The
 * text is asked for the size of the terminal at that moment.
 */
export async function watch(
  render: () => Promise<string>,
  context: CliContext,
  screen?: Terminal,
): Promise<void> {
  const interrupted = new AbortController()
  const interrupt = () => interrupted.abort()
  process.on('SIGINT', interrupt)
  process.on('SIGTERM', interrupt)
  const signals = [interrupted.signal, context.signal, context.outputClosed].filter(
    (signal) => signal !== undefined,
  )
  const stopped = AbortSignal.any(signals)
  screen?.write('\u001b[2J')
  try {
    while (!stopped.aborted) {
      const next = await render()
      if (screen === undefined) context.out(next)
      else screen.write(frame(next, screen))
      // It rejects only where the watch is to end.
      await wait(watchIntervalMs, stopped).catch(() => {})
    }
  } finally {
    process.off('SIGINT', interrupt)
    process.off('SIGTERM', interrupt)
  }
}

/** From the upper left corner; each line clears what is left of the last frame, and none makes the screen scroll. */
function frame(text: string, screen: Terminal): string {
  const maxLines = Math.max(1, screen.size().rows - 1)
  const lines = text.split('\n')
  const shown =
    lines.length <= maxLines
      ? lines
      : [...lines.slice(0, maxLines - 1), `… ${lines.length - maxLines + 1} more lines`]
  return `\u001b[H${shown.map((line) => `${line}\u001b[K\n`).join('')}\u001b[J`
}
