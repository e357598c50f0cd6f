import { homedir } from 'node:os'
import { lazy } from '../lib/lazy.ts'

/** The environment, folders and streams that a command uses. */
export type CliContext = {
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly cwd: string
  readonly home: string
  /** Writes a line to standard output: results. */
  out(text: string): void
  /** Writes a line to standard error: errors and hints. */
  err(text: string): void
  /** Stops a command that runs until it is interrupted. */
  readonly signal?: AbortSignal
  /** The terminal of standard output; absent if it is a file or a pipe. */
  readonly terminal?: Terminal | undefined
  /** The terminal of standard error; absent if it is a file or a pipe. */
  readonly errTerminal?: Terminal | undefined
  /** Aborted when the reader closes standard output. */
  readonly outputClosed?: AbortSignal
}

/** An interactive terminal. */
export type Terminal = {
  /** The file descriptor of the stream. */
  readonly descriptor: number
  /** The current size in characters. */
  size(): { readonly columns: number; readonly rows: number }
  readonly color: boolean
  /** Writes text unchanged, without adding a line break. */
  write(text: string): void
}

/**
 * Creates the context of this process. Its streams are opened when they are used: that takes longer than everything that
 * `weir serve` does before it replaces its process.
 */
export function processContext(): CliContext {
  const closed = new AbortController()
  const stdout = lazy(() => withoutBrokenPipes(process.stdout, () => closed.abort()))
  const stderr = lazy(() => withoutBrokenPipes(process.stderr, () => {}))
  return {
    environment: process.env,
    cwd: process.cwd(),
    home: homedir(),
    out: (text) => void stdout().write(`${text}\n`),
    err: (text) => void stderr().write(`${text}\n`),
    get terminal() {
      return stdout().isTTY ? terminalOf(stdout(), 1) : undefined
    },
    get errTerminal() {
      return stderr().isTTY ? terminalOf(stderr(), 2) : undefined
    },
    outputClosed: closed.signal,
  }
}

/** The reader may close the pipe early, as `head` does. */
function withoutBrokenPipes(stream: NodeJS.WriteStream, onClosed: () => void): NodeJS.WriteStream {
  return stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error
    onClosed()
  })
}

function terminalOf(stream: NodeJS.WriteStream, descriptor: number): Terminal {
  return {
    descriptor,
    // A terminal of unknown size reports 0.
    size: () => ({ columns: stream.columns || 80, rows: stream.rows || 24 }),
    color: supportsColor(process.env),
    write: (text) => void stream.write(text),
  }
}

type Environment = Readonly<Record<string, string | undefined>>

/** Returns if the terminal supports colours: FORCE_COLOR overrides NO_COLOR, which overrides TERM. */
export function supportsColor({ FORCE_COLOR, NO_COLOR, TERM }: Environment): boolean {
  if (FORCE_COLOR !== undefined && FORCE_COLOR !== '') return FORCE_COLOR !== '0' && FORCE_COLOR !== 'false'
  return !NO_COLOR && TERM !== 'dumb'
}
