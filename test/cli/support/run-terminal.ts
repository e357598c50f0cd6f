import { weirCommand } from '../../support/weir-command.ts'

/** The program on its own terminal: both outputs, as the terminal receives them. */
export type TerminalRun = AsyncDisposable & {
  readonly pid: number
  /** The exit code, once all that the program has written is in `text`. */
  readonly exited: Promise<number>
  /** All that was written until now, with the escape sequences. */
  text(): string
  /** Resolves with the match once it is there; rejects where the program ends before. */
  until(pattern: RegExp): Promise<RegExpExecArray>
  /** Types, as a person would: `\u0003` is Ctrl-C. */
  type(text: string): void
}

/** Starts it in the folder; `environment` is all that it has, but for HOME and TERM. */
export function runOnTerminal(
  args: readonly string[],
  cwd: string,
  environment: Readonly<Record<string, string>> = {},
  columns = 200,
): TerminalRun {
  let text = ''
  let wake = () => {}
  let ended = false
  const decoder = new TextDecoder()
  const { promise: closed, resolve: onClosed } = Promise.withResolvers<void>()
  const child = Bun.spawn([...weirCommand, ...args], {
    cwd,
    env: { HOME: cwd, TERM: 'xterm-256color', ...environment },
    terminal: {
      cols: columns,
      rows: 24,
      data(_, bytes) {
        text += decoder.decode(bytes, { stream: true })
        wake()
      },
      // The program can have ended while its last lines are still on their way.
      exit: () => onClosed(),
    },
  })
  const exited = Promise.all([child.exited, closed]).then(([code]) => code)
  void exited.finally(() => {
    ended = true
    wake()
  })

  async function until(pattern: RegExp): Promise<RegExpExecArray> {
    for (;;) {
      const found = pattern.exec(text)
      if (found) return found
      if (ended) throw new Error(`The program ended without ${pattern}. It said: ${text}`)
      await new Promise<void>((resolve) => (wake = resolve))
    }
  }

  return {
    pid: child.pid,
    exited,
    text: () => text,
    until,
    type: (typed) => void child.terminal?.write(typed),
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL')
      await child.exited
      child.terminal?.close()
    },
  }
}

/** The text without colours and other escape sequences. */
export function withoutEscapes(text: string): string {
  return Bun.stripANSI(text).replaceAll('\r\n', '\n')
}
