import { dirname, join } from 'node:path'
import type { Place } from './commands.ts'

/** A server of this run. Leaving its scope kills it, if nothing else has ended it. */
export type Server = AsyncDisposable & {
  readonly address: string
  /** Ends it without a warning. */
  kill(): Promise<void>
  /** Asks it to end, and expects it to do so cleanly. */
  stop(): Promise<void>
}

const deadline = 20_000

/** Starts an executable and waits until it says that it is ready. */
export async function startServer(place: Place, port: number): Promise<Server> {
  const log = Bun.file(join(dirname(place.folder), 'server.log'))
  const started = performance.now()
  const running = Bun.spawn([place.executable, 'serve', '--port', String(port)], {
    cwd: place.folder,
    env: place.environment,
    stdio: ['ignore', log, log],
  })
  const address = `http://127.0.0.1:${port}`
  try {
    await untilReady(address, running)
  } catch (error) {
    await kill(running)
    throw new Error(`The server did not become ready. It said:\n${await log.text()}`, { cause: error })
  }
  console.log(`ready            after ${Math.round(performance.now() - started)} ms`)
  return {
    address,
    kill: () => kill(running),
    stop: () => stop(running),
    [Symbol.asyncDispose]: () => kill(running),
  }
}

async function untilReady(address: string, running: Bun.Subprocess): Promise<void> {
  const end = performance.now() + deadline
  while (performance.now() < end && running.exitCode === null) {
    const ready = await fetch(`${address}/readyz`, { signal: AbortSignal.timeout(1000) }).catch(() => null)
    if (ready?.status === 200) return
    await Bun.sleep(10)
  }
  throw new Error(running.exitCode === null ? 'It took too long.' : `It ended with ${running.exitCode}.`)
}

async function kill(running: Bun.Subprocess): Promise<void> {
  running.kill('SIGKILL')
  await running.exited
}

async function stop(running: Bun.Subprocess): Promise<void> {
  running.kill('SIGTERM')
  const code = await Promise.race([running.exited, Bun.sleep(deadline)])
  if (code === undefined) throw new Error('The server did not end when it was asked to.')
  // Windows knows no polite end of a process: there it is killed, whatever the signal.
  if (code !== 0 && process.platform !== 'win32') throw new Error(`The server ended with ${code}.`)
  console.log('SIGTERM          ended cleanly')
}
