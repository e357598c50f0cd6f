import { createLineWriter } from '../../../observability/request-log/line-writer.ts'
import type { CliContext, Terminal } from '../../context.ts'
import { droppedLogLine, isSameTerminal, type ServeOutput } from '../output.ts'

/** How a worker formats its lines: its outputs are pipes to the supervisor, which may have a terminal. */
export type OutputFormat = {
  /** The `--json` flag. */
  readonly json: boolean
  readonly requests: TerminalFormat | undefined
  readonly log: TerminalFormat | undefined
  /** Whether both are one terminal. */
  readonly shared: boolean
}

type TerminalFormat = Pick<Terminal, 'color'>

/** Returns the format for the outputs of this process. */
export function outputFormat({ terminal, errTerminal }: CliContext, json: boolean): OutputFormat {
  return {
    json,
    requests: terminal && { color: terminal.color },
    log: errTerminal && { color: errTerminal.color },
    shared: isSameTerminal(terminal, errTerminal),
  }
}

/** Creates the outputs of a worker. */
export function createWorkerOutput(context: CliContext, format: OutputFormat): ServeOutput {
  // One pipe for both keeps their order.
  const sink = format.shared ? process.stdout : process.stderr
  const log = createLineWriter(sink, droppedLogLine(format.log !== undefined && !format.json))
  return {
    context: {
      ...context,
      err: log.write,
      ...(format.requests && { terminal: relayedTerminal(process.stdout, 1, format.requests) }),
      ...(format.log && { errTerminal: relayedTerminal(process.stderr, 2, format.log) }),
    },
    requests: process.stdout,
    flush: () => log.flush(flushTimeoutMs),
  }
}

const flushTimeoutMs = 1000

/** The terminal of the supervisor, to which the lines of this stream are relayed. */
function relayedTerminal(
  stream: NodeJS.WriteStream,
  descriptor: number,
  { color }: TerminalFormat,
): Terminal {
  return {
    descriptor,
    size: () => ({ columns: 80, rows: 24 }),
    color,
    write: (text) => void stream.write(text),
  }
}
