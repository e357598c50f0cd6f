import type { LiveEvent } from '../../../observability/live-event.ts'
import { programCommand } from '../../invocation.ts'
import { Channel } from './channel.ts'
import {
  type ProcessMetrics,
  type SupervisorProcedures,
  workerCommand,
  type WorkerProcedures,
} from './procedures.ts'

/** Receives what a worker writes, and its calls. */
export type WorkerListener = {
  /** Standard output is read when this resolves: the banner comes before the first request. */
  readonly outputReady: Promise<unknown>
  onOutputLine(line: string): void
  onLogLine(line: string): void
  /** See `SupervisorProcedures`. */
  otherMetrics(worker: WorkerProcess): Promise<readonly ProcessMetrics[]>
  otherLiveEvents(worker: WorkerProcess, reader: string): Promise<readonly LiveEvent[]>
}

/** A worker, as its supervisor sees it. */
export type WorkerProcess = {
  readonly pid: number
  readonly call: Channel<WorkerProcedures, SupervisorProcedures>['call']
  /** Resolves when the process has ended and its log was read. */
  readonly ended: Promise<WorkerEnd>
  /** Resolves when its standard output was read to the end. */
  readonly outputRead: Promise<void>
  /** The metrics that the worker sent last; those that only grow are kept when it has ended. */
  lastMetrics: ProcessMetrics
  /** The id of the worker in the database, when it has started. */
  process: string | undefined
  kill(): void
}

export type WorkerEnd = { readonly exitCode: number | null; readonly signal: string | null }

/** Starts a process of this program that waits for its `start`; `command` is another one in a test. */
export function spawnWorker(
  listener: WorkerListener,
  command: readonly string[] = [...programCommand(), workerCommand],
): WorkerProcess {
  const child = Bun.spawn([...command], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: process.env,
    serialization: 'json',
    ipc: (message) => channel.receive(message),
    onDisconnect: () => channel.close(),
  })
  const channel = new Channel<WorkerProcedures, SupervisorProcedures>(
    // A worker that has ended is noticed by its end.
    (envelope) => void child.send(envelope),
    {
      otherMetrics(own) {
        worker.lastMetrics = own
        return listener.otherMetrics(worker)
      },
      otherLiveEvents: (reader) => listener.otherLiveEvents(worker, reader),
    },
  )
  const outputRead = listener.outputReady.then(() => relayLines(child.stdout, listener.onOutputLine))
  const logRead = relayLines(child.stderr, listener.onLogLine)
  const worker: WorkerProcess = {
    pid: child.pid,
    call: (name, input, timeoutMs) => channel.call(name, input, timeoutMs),
    ended: endOf(child, logRead),
    outputRead,
    lastMetrics: [],
    process: undefined,
    kill: () => child.kill('SIGKILL'),
  }
  return worker
}

async function endOf(child: Bun.Subprocess, logRead: Promise<void>): Promise<WorkerEnd> {
  await child.exited
  await logRead
  return { exitCode: child.exitCode, signal: child.signalCode === null ? null : String(child.signalCode) }
}

/** The longest part of a line that waits for its end. */
const maxPendingCharacters = 1024 * 1024

/** Passes the lines of a stream on, whole and without line ends, until it ends; a very long line is split. */
async function relayLines(stream: ReadableStream<Uint8Array>, write: (line: string) => void): Promise<void> {
  const decoder = new TextDecoder()
  let pending = ''
  for await (const bytes of stream) {
    const lines = (pending + decoder.decode(bytes, { stream: true })).split('\n')
    pending = lines.pop() ?? ''
    for (const line of lines) write(line)
    if (pending.length <= maxPendingCharacters) continue
    write(pending)
    pending = ''
  }
  // The process may have been killed in the middle of a line.
  if (pending !== '') write(pending)
}
