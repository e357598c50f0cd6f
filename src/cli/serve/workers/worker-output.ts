import { settleWithin } from '../../../lib/time.ts'
import { createLineWriter } from '../../../observability/request-log/line-writer.ts'
import type { CliContext, Terminal } from '../../context.ts'
import { droppedLogLine, isSameTerminal, type ServeOutput } from '../output.ts'
import type { OutputFormat, TerminalFormat } from './procedures.ts'
import type { WorkerListener, WorkerProcess } from './worker-process.ts'

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

/** The output of all workers: one stream and one log of whole lines. */
export type WorkerLines = {
  /** Starts a worker with a listener that relays its lines; those of its standard output follow the banner. */
  relay(
    spawn: (listener: Omit<WorkerListener, 'otherMetrics' | 'otherLiveEvents'>) => WorkerProcess,
  ): WorkerProcess
  showBanner(text: string): void
  /** The number of request lines that were dropped because the output was not read fast enough. */
  dropped(): number
  /** Resolves once all lines are written, or after a short timeout. */
  flush(): Promise<void>
}

/** Creates the relay to the outputs of this process. */
export function createWorkerLines({ context, requests }: ServeOutput, json: boolean): WorkerLines {
  const readable = context.terminal !== undefined && !json
  const writer = createLineWriter(requests, droppedLogLine(readable))
  const bannerShown = Promise.withResolvers<void>()
  const unread = new Set<Promise<void>>()
  const listener = {
    outputReady: bannerShown.promise,
    onOutputLine: writer.write,
    onLogLine: context.err,
  }
  return {
    relay(spawn) {
      const worker = spawn(listener)
      const { outputRead } = worker
      unread.add(outputRead)
      void outputRead.finally(() => unread.delete(outputRead))
      return worker
    },
    showBanner(text) {
      context.out(text)
      bannerShown.resolve()
    },
    dropped: writer.dropped,
    async flush() {
      // Without a banner the start has failed, and there are no requests.
      bannerShown.resolve()
      await settleWithin(Promise.all(unread), flushTimeoutMs)
      await writer.flush(flushTimeoutMs)
    },
  }
}
