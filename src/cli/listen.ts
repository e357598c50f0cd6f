import type { Settings } from '../config/settings.ts'
import type { Runtime } from '../runtime.ts'
import { CommandError } from './command.ts'

/** Seconds for which a connection may be open without a whole request. */
const silentConnection = 60

export type Server = ReturnType<typeof listen>

/** Serves the runtime at the address of the settings; throws a sentence where that is not to be had. */
export function listen(runtime: Pick<Runtime, 'fetch'>, settings: Pick<Settings, 'host' | 'port' | 'tls'>) {
  const { host, port, tls } = settings
  try {
    return Bun.serve({
      hostname: host,
      port,
      fetch(request, server) {
        // A model may think for minutes; event streams send comments, and bodies and upstream calls have deadlines.
        server.timeout(request, 0)
        return runtime.fetch(request)
      },
      idleTimeout: silentConnection,
      // The bound that callers are told is checked, with an error that says so, where bodies are read.
      maxRequestBodySize: Number.MAX_SAFE_INTEGER,
      ...(tls && { tls: { cert: Bun.file(tls.cert), key: Bun.file(tls.key) } }),
    })
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    throw new CommandError(`Cannot listen on ${host}:${port}: ${why} Choose another with --port or --host.`)
  }
}
