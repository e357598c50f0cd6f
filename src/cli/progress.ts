import type { CliContext } from './context.ts'

/** A progress line on standard error. */
export type Progress = {
  /** Shows this text from now on; the function is called for each redraw. */
  show(text: () => string): void
  /** Stops and clears the line. */
  end(): void
}

/** A terminal is redrawn in place; elsewhere each update is a new line. */
const redrawIntervalMs = 150
const lineIntervalMs = 1000

/** Creates a progress line; with `json` it shows nothing. */
export function createProgress({ err, errTerminal }: CliContext, json = false): Progress {
  if (json) return { show() {}, end() {} }
  let text = () => ''
  const screen = errTerminal
  const draw = () => {
    if (screen === undefined) return err(text())
    screen.write(`\r${Bun.sliceAnsi(text(), 0, screen.size().columns - 1)}\u001b[K`)
  }
  const timer = setInterval(draw, screen === undefined ? lineIntervalMs : redrawIntervalMs)
  return {
    show: (next) => void (text = next),
    end() {
      clearInterval(timer)
      screen?.write('\r\u001b[K')
    },
  }
}

/** Shows progress on standard error until the promise settles, and returns its value. */
export async function withProgress<Value>(
  promise: Promise<Value>,
  context: CliContext,
  json: boolean | undefined,
  text: () => string,
): Promise<Value> {
  const progress = createProgress(context, json)
  progress.show(text)
  try {
    return await promise
  } finally {
    progress.end()
  }
}
