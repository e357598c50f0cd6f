import { join } from 'node:path'
import { loadSettings } from '../config/load.ts'
import { createLog } from '../lib/log.ts'
import { createRuntime, type Runtime } from '../runtime.ts'
import { databaseName } from '../storage/database.ts'
import { banner } from './banner.ts'
import { type Command, commonFlagsHelp, parseFlags, type World } from './command.ts'
import { listen, type Server } from './listen.ts'
import { reloadWhenTold } from './reload.ts'
import { liftRequestLimit } from './request-limit.ts'

const usage = `Usage
  weir [serve] [--host HOST] [--port PORT]

Serves the gateway until it is told to stop (Ctrl-C, SIGTERM). The first start makes the data
folder and prints an API key, once.

Flags
  --host HOST    the address to listen on; 127.0.0.1 unless set, 0.0.0.0 for every interface
  --port PORT    the port to listen on; 9347 unless set, 0 for any that is free

Examples
  weir
  weir serve --host 0.0.0.0 --port 8080
  OPENAI_API_KEY=sk-… weir

${commonFlagsHelp}`

/** `weir serve`. */
export const serve: Command = {
  name: 'serve',
  summary: 'serve the gateway; what weir does without a command',
  usage,
  async run(args, world) {
    const { flags } = parseFlags(args, { command: 'serve', flags: { host: 'text', port: 'text' } })
    const { settings, file, dataFolder } = loadSettings({ flags, ...world })
    const exitCode = await liftRequestLimit(world)
    if (exitCode !== undefined) return exitCode
    const { environment } = world
    const database = join(dataFolder, databaseName)
    const log = createLog()
    const runtime = await createRuntime({ settings, file, environment, database, log })
    try {
      const server = listen(runtime, settings)
      world.out(banner(runtime, addressOf(server), dataFolder))
      reloadWhenTold(runtime, () => loadSettings({ flags, ...world }), environment, log)
      await untilToldToStop(world)
      await drained(runtime, server)
    } finally {
      await runtime.stop()
    }
    return 0
  },
}

function addressOf(server: Server): string {
  const { protocol, port, hostname = '' } = server.url
  const host = hostname === '0.0.0.0' || hostname === '[::]' ? 'localhost' : hostname
  return `${protocol}//${host}:${port}`
}

function untilToldToStop({ signal }: World): Promise<void> {
  return new Promise((resolve) => {
    // Not once: without a listener, the same signal right behind the first one would kill the process.
    process.on('SIGINT', () => resolve())
    process.on('SIGTERM', () => resolve())
    signal?.addEventListener('abort', () => resolve(), { once: true })
  })
}

/** Milliseconds for which open calls may go on after the gateway was told to stop. */
const grace = 10_000
/** Milliseconds within which a second signal is the first one again: Ctrl-C reaches a script and what it runs. */
const sameSignal = 1_000

/** Takes no new call and lets the open ones end; a later signal, or the end of the grace, cuts them off. */
async function drained(runtime: Runtime, server: Server): Promise<void> {
  runtime.drain()
  const cut = () => void server.stop(true)
  const timer = setTimeout(cut, grace)
  const toldAt = performance.now()
  const toldAgain = () => performance.now() - toldAt > sameSignal && cut()
  process.on('SIGINT', toldAgain)
  process.on('SIGTERM', toldAgain)
  await server.stop()
  clearTimeout(timer)
}
