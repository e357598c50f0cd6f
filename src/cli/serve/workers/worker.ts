import { type Log, silentLog } from '../../../lib/log.ts'
import type { Runtime } from '../../../server/runtime.ts'
import type { Command } from '../../command.ts'
import type { CliContext } from '../../context.ts'
import { toFailure, UsageError } from '../../errors.ts'
import { logTo } from '../../log.ts'
import { bannerFacts } from '../banner.ts'
import { interpretStart } from '../jit-policy.ts'
import { listen, type Server } from '../listen.ts'
import { ignoreUserSignals, shutDown } from '../shutdown.ts'
import { createRequestLines, fetchWhenStarted, startRuntime } from '../start-runtime.ts'
import { Channel } from './channel.ts'
import type { SupervisorProcedures, WorkerInput, WorkerProcedures } from './procedures.ts'
import { createWorkerOutput } from './worker-output.ts'

/** The channel to the supervisor. */
type Supervisor = Channel<SupervisorProcedures, WorkerProcedures>

/** The command with which `weir serve --workers` starts its workers; no help mentions it. */
export const serveWorker: Command = {
  usage: 'This command is started by weir serve --workers.',
  async run(_, context) {
    const send = process.send?.bind(process)
    if (send === undefined) throw new UsageError('A worker is started by weir serve --workers.')
    interpretStart()
    await runWorker(send, context)
    return 0
  },
}

/** Serves as a worker until the supervisor lets it drain, or has ended. `send` sends to the supervisor. */
async function runWorker(send: (message: object) => unknown, context: CliContext): Promise<void> {
  const drain = Promise.withResolvers<void>()
  const abort = Promise.withResolvers<void>()
  let starting: Promise<Worker> | undefined
  const supervisor: Supervisor = new Channel<SupervisorProcedures, WorkerProcedures>(
    (message) => void send(message),
    {
      async start(input) {
        starting = startWorker(input, context, supervisor)
        const { runtime } = await starting.catch(throwReason)
        return { facts: bannerFacts(runtime.configuration()), process: runtime.process.id() }
      },
      async reload({ settings, file }) {
        const worker = await starting
        await worker?.runtime.reload({ settings, file, environment: context.environment })
      },
      recordReload: async (changed) => (await starting)?.runtime.process.recordReload(changed),
      evict: async (id) => (await starting)?.runtime.process.evict(id),
      metrics: async () => (await starting)?.runtime.process.metrics() ?? [],
      liveEvents: async (reader) => (await starting)?.runtime.process.liveEvents(reader) ?? [],
      drain: drain.resolve,
      abort: abort.resolve,
    },
  )
  process.on('message', (message) => supervisor.receive(message))
  process.on('disconnect', () => {
    supervisor.close()
    drain.resolve()
  })
  ignoreSignals()
  await drain.promise
  const worker = await starting?.catch(() => undefined)
  await worker?.stop(abort.promise)
  if (process.connected) process.disconnect?.()
}

/** A signal to the process group, as by Ctrl-C or systemd, reaches the workers too; the supervisor decides. */
function ignoreSignals(): void {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {})
  ignoreUserSignals()
}

/** Rejects with the sentence for the operator. */
function throwReason(error: unknown): never {
  throw new Error(toFailure(error).message, { cause: error })
}

type Worker = { readonly runtime: Runtime; stop(abort: Promise<void>): Promise<void> }

async function startWorker(input: WorkerInput, context: CliContext, supervisor: Supervisor): Promise<Worker> {
  const { loaded, drainMs, format } = input
  const output = createWorkerOutput(context, format)
  const requestLines = createRequestLines(output, format.json)
  const log = logTo(output.context, format.json, requestLines.notes)
  const { promise: starting, resolve: started } = Promise.withResolvers<Runtime>()
  // The supervisor has claimed the port; a worker that cannot listen should not open the database.
  const server = listen(fetchWhenStarted(starting), loaded.settings, log, true)
  const runtime = await startRuntime(loaded, output.context, log, requestLines, {
    // The first worker logs what all of them would.
    settingsLog: input.number === 1 ? log : silentLog,
    otherMetrics: (own) => supervisor.call('otherMetrics', own, collectTimeoutMs),
    otherLiveEvents: (reader) => supervisor.call('otherLiveEvents', reader, collectTimeoutMs),
  }).catch(closing(server))
  runtime.attachServer(server)
  started(runtime)
  return {
    runtime,
    async stop(abort) {
      await endWorker(runtime, server, drainMs, abort, log)
      await output.flush()
    },
  }
}

/** Longer than the supervisor waits for the other workers. */
const collectTimeoutMs = 5000

function closing(server: Server): (error: unknown) => Promise<never> {
  return async (error) => {
    await server.stop(true)
    throw error
  }
}

async function endWorker(
  runtime: Runtime,
  server: Server,
  drainMs: number,
  abort: Promise<void>,
  log: Log,
): Promise<void> {
  try {
    await shutDown(runtime, server, drainMs, abort, log)
  } finally {
    await runtime.stop()
  }
}
