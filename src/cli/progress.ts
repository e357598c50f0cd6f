import type { CliContext } from './context.ts'

/** What a command says on standard error while it works. */
export type Progress = {
  /** From now on this is under way; the text is made anew whenever it is shown. */
  show(text: () => string): void
  /** Nothing is under way any more. */
  end(): void
}

/** Milliseconds between two looks at what is under way: on a terminal it is redrawn, elsewhere each is a line. */
const redrawIntervalMs = 150
const lineIntervalMs = 1000

/** Programs, which ask for JSON, see none of it. */
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

/** The promise; while it lasts, standard error shows what is under way. */
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
