import { fstatSync } from 'node:fs'
import { createLineWriter, type Sink } from '../../observability/request-log/line-writer.ts'
import { clockTime, levelLabel } from '../../observability/request-log/readable-log.ts'
import type { LoadedSettings } from '../../config/load.ts'
import type { SettingsFlags } from '../../config/paths.ts'
import type { CliContext, Terminal } from '../context.ts'
import { openTerminalSink } from './terminal-sink.ts'

/** The outputs of `weir serve`: none of them blocks the gateway if it is not read. */
export type ServeOutput = {
  /** The context with these outputs. */
  readonly context: CliContext
  /** Standard output, for request lines. */
  readonly requests: Sink
  /** Resolves once all log lines are written, or after a short timeout. */
  flush(): Promise<void>
}

/** The options with which `weir serve` was started. */
export type ServeInput = {
  readonly loaded: LoadedSettings
  /** Loads the settings again. */
  readonly load: () => LoadedSettings
  readonly flags: SettingsFlags & { readonly json?: boolean | undefined }
  readonly drainMs: number
  readonly output: ServeOutput
}

/** Time for a reader that is slow to receive the last lines. */
const flushTimeoutMs = 1000

/** Creates the outputs; log lines are dropped if standard error is not read fast enough. */
export function createServeOutput(context: CliContext, json: boolean): ServeOutput {
  const { terminal, errTerminal } = context
  // A log on a full disk stops no gateway, and lines are written again when there is space.
  context.ignoreOutputErrors?.()
  const stdout = terminal && openTerminalSink(terminal.descriptor)
  const shared = isSameTerminal(terminal, errTerminal)
  const stderr = shared ? stdout : errTerminal && openTerminalSink(errTerminal.descriptor)
  const readable = errTerminal !== undefined && !json
  const log = createLineWriter(stderr ?? process.stderr, droppedLogLine(readable))
  // One writer for both on a shared terminal keeps their order.
  const startup = shared ? log : stdout && createLineWriter(stdout, droppedLogLine(false))
  return {
    context: { ...context, err: log.write, ...(startup && { out: startup.write }) },
    requests: stdout ?? process.stdout,
    async flush() {
      await Promise.all([log.flush(flushTimeoutMs), startup?.flush(flushTimeoutMs)])
    },
  }
}

/** True if both are one terminal: two sinks would mix its lines. */
export function isSameTerminal(first: Terminal | undefined, second: Terminal | undefined): boolean {
  if (first === undefined || second === undefined) return false
  return fstatSync(first.descriptor).rdev === fstatSync(second.descriptor).rdev
}

/** Returns the function that formats the line about dropped log lines. */
export function droppedLogLine(readable: boolean): (lines: number) => string {
  return readable ? readableDroppedLine : droppedLine
}

function droppedLine(lines: number): string {
  return JSON.stringify({
    time: new Date().toISOString(),
    level: 'warn',
    message: 'Log lines were dropped.',
    lines,
  })
}

function readableDroppedLine(lines: number): string {
  const message = `${lines} log lines were dropped because the output was not read fast enough.`
  return [clockTime(new Date()), levelLabel('warn'), message].join('  ')
}
