import type { Runtime } from '../../server/runtime.ts'
import { logTo, logWarnings } from '../log.ts'
import { bannerFacts, startupText } from './banner.ts'
import { listen } from './listen.ts'
import { reloadOnSignal } from './reload.ts'
import type { ServeInput } from './output.ts'
import { listenForStopSignals, logShutdown, shutDown } from './shutdown.ts'
import { createRequestLines, fetchWhenStarted, startRuntime } from './start-runtime.ts'

/** Serves with this process alone, until a signal stops it. */
export async function serveSingle(input: ServeInput): Promise<void> {
  const { loaded, load, flags, drainMs, output } = input
  const { context } = output
  const requestLines = createRequestLines(output, flags.json === true)
  const log = logTo(context, flags.json, requestLines.notes)
  logWarnings(loaded.warnings, log)
  using stopSignals = listenForStopSignals(context)
  const { promise: starting, resolve: started } = Promise.withResolvers<Runtime>()
  // Listen first: a start that cannot listen must not create or change a database.
  const server = listen(fetchWhenStarted(starting), loaded.settings, log)
  try {
    const runtime = await startRuntime(loaded, context, log, requestLines)
    try {
      runtime.attachServer(server)
      started(runtime)
      const { firstKeys, configuration } = runtime
      context.out(startupText({ facts: bannerFacts(configuration()), firstKeys, url: server.url }, input))
      reloadOnSignal(runtime, load, context.environment, log)
      await stopSignals.first
      logShutdown(drainMs, log)
      await shutDown(runtime, server, drainMs, stopSignals.second, log)
    } finally {
      await runtime.stop()
    }
  } finally {
    await server.stop(true)
  }
}
