import { homedir } from 'node:os'
import { lazy } from '../lib/lazy.ts'
import { causeOf } from '../lib/log.ts'
import { errorCode, platformFailure } from '../lib/platform-failure.ts'

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
  /** From now on, an output that cannot be written is no failure of the command. */
  ignoreOutputErrors?(): void
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
  let ignored = false
  const stderr = lazy(() => handleErrors(process.stderr, { closed() {}, failed() {} }))
  const err = (text: string) => void stderr().write(`${text}\n`)
  function failed(error: unknown): void {
    err(`The output could not be written: ${platformFailure(error) ?? causeOf(error)}.`)
    if (!ignored) process.exitCode = 1
  }
  const stdout = lazy(() => handleErrors(process.stdout, { closed: () => closed.abort(), failed }))
  return {
    environment: process.env,
    cwd: process.cwd(),
    home: homeFolder(),
    out: (text) => void stdout().write(`${text}\n`),
    err,
    get terminal() {
      return stdout().isTTY ? terminalOf(stdout(), 1) : undefined
    },
    get errTerminal() {
      return stderr().isTTY ? terminalOf(stderr(), 2) : undefined
    },
    outputClosed: closed.signal,
    ignoreOutputErrors: () => void (ignored = true),
  }
}

/** The root where the user has none, as in a container with a user id of its own. */
function homeFolder(): string {
  try {
    return homedir()
  } catch {
    return '/'
  }
}

type ErrorHandlers = { closed(): void; failed(error: unknown): void }

/** The reader may close the pipe early, as `head` does; the disk of a file may be full. Without a listener, both end the process. */
function handleErrors(stream: NodeJS.WriteStream, { closed, failed }: ErrorHandlers): NodeJS.WriteStream {
  return stream.on('error', (error) => (errorCode(error) === 'EPIPE' ? closed() : failed(error)))
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
