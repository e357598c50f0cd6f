import { homedir } from 'node:os'

/** The machine as this process sees it. */
export function processContext(): CliContext {
  const unread = new AbortController()
  const { stdout, stderr } = process
  return {
    environment: process.env,
    cwd: process.cwd(),
    home: homedir(),
    out: lineWriter(stdout, () => unread.abort()),
    err: lineWriter(stderr, () => {}),
    ...(stdout.isTTY && { terminal: terminalOf(stdout) }),
    ...(stderr.isTTY && { errTerminal: terminalOf(stderr) }),
    outputClosed: unread.signal,
  }
}

function lineWriter(stream: NodeJS.WriteStream, onClosed: () => void): (text: string) => void {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    // A reader that has seen enough, such as `head`, is no failure.
    if (error.code !== 'EPIPE') throw error
    onClosed()
  })
  return (text) => void stream.write(`${text}\n`)
}

function terminalOf(stream: NodeJS.WriteStream): Terminal {
  return {
    // A terminal that does not know its size says 0.
    size: () => ({ columns: stream.columns || 80, rows: stream.rows || 24 }),
    color: supportsColor(process.env),
    write: (text) => void stream.write(text),
  }
}

/** What a command sees of the machine it runs on. */
export type CliContext = {
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly cwd: string
  readonly home: string
  /** Writes a line to standard output: the answer. */
  out(text: string): void
  /** Writes a line to standard error: what went wrong, what to do. */
  err(text: string): void
  /** Ends a command that runs until it is told to stop. */
  readonly signal?: AbortSignal
  /** The terminal that standard output is; absent where it is a file or a pipe. */
  readonly terminal?: Terminal
  /** The terminal that standard error is; absent where it is a file or a pipe. */
  readonly errTerminal?: Terminal
  /** Aborted once nobody reads standard output any more. */
  readonly outputClosed?: AbortSignal
}

/** A screen that a person looks at. */
export type Terminal = {
  /** Characters in a line and lines on the screen, at the moment. */
  size(): { readonly columns: number; readonly rows: number }
  readonly color: boolean
  /** Writes text as it is, with escape sequences and without a line break. */
  write(text: string): void
}

type Environment = Readonly<Record<string, string | undefined>>

/** Whether a terminal may be given colours: FORCE_COLOR, else NO_COLOR, else unless it is a dumb one. */
export function supportsColor({ FORCE_COLOR, NO_COLOR, TERM }: Environment): boolean {
  if (FORCE_COLOR !== undefined && FORCE_COLOR !== '') return FORCE_COLOR !== '0' && FORCE_COLOR !== 'false'
  return !NO_COLOR && TERM !== 'dumb'
}
