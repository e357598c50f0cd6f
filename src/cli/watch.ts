import { wait } from '../lib/time.ts'
import type { CliContext, Terminal } from './context.ts'

/** Between the end of one refresh and the start of the next. */
const watchIntervalMs = 2000

/**
 * Prints the rendered text again and again until Ctrl-C or until standard output is closed; on a terminal in place of
 * the last one. `render` may depend on the current size of the terminal.
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
      // It rejects only when the watch stops.
      await wait(watchIntervalMs, stopped).catch(() => {})
    }
  } finally {
    process.off('SIGINT', interrupt)
    process.off('SIGTERM', interrupt)
  }
}

/** Draws from the upper left corner; each line clears the rest of the last frame, and the screen does not scroll. */
function frame(text: string, screen: Terminal): string {
  const maxLines = Math.max(1, screen.size().rows - 1)
  const lines = text.split('\n')
  const visibleLines =
    lines.length <= maxLines
      ? lines
      : [...lines.slice(0, maxLines - 1), `… ${lines.length - maxLines + 1} more lines`]
  return `\u001b[H${visibleLines.map((line) => `${line}\u001b[K\n`).join('')}\u001b[J`
}
