import { dirname, join } from 'node:path'
import type { Installation } from './machine.ts'

/** A server of this run. Leaving its scope kills it, if nothing else has ended it. */
export type Server = AsyncDisposable & {
  readonly address: string
  /** Ends it without a warning. */
  kill(): Promise<void>
  /** Asks it to end, and expects it to do so cleanly. */
  stop(): Promise<void>
}

const timeoutMs = 20_000

/** Starts an executable and waits until it says that it is ready. */
export async function startServer(installation: Installation, port: number): Promise<Server> {
  const log = Bun.file(join(dirname(installation.folder), 'server.log'))
  const started = performance.now()
  const child = Bun.spawn([installation.executable, 'serve', '--port', String(port)], {
    cwd: installation.folder,
    env: installation.environment,
    stdio: ['ignore', log, log],
  })
  const address = `http://127.0.0.1:${port}`
  try {
    await untilReady(address, child)
  } catch (error) {
    await kill(child)
    throw new Error(`The server did not become ready. It said:\n${await log.text()}`, { cause: error })
  }
  console.log(`ready            after ${Math.round(performance.now() - started)} ms`)
  return {
    address,
    kill: () => kill(child),
    stop: () => stop(child),
    [Symbol.asyncDispose]: () => kill(child),
  }
}

async function untilReady(address: string, child: Bun.Subprocess): Promise<void> {
  const end = performance.now() + timeoutMs
  while (performance.now() < end && child.exitCode === null) {
    const ready = await fetch(`${address}/readyz`, { signal: AbortSignal.timeout(1000) }).catch(() => null)
    if (ready?.status === 200) return
    await Bun.sleep(10)
  }
  throw new Error(child.exitCode === null ? 'It took too long.' : `It ended with ${child.exitCode}.`)
}

async function kill(child: Bun.Subprocess): Promise<void> {
  child.kill('SIGKILL')
  await child.exited
}

async function stop(child: Bun.Subprocess): Promise<void> {
  child.kill('SIGTERM')
  const code = await Promise.race([child.exited, Bun.sleep(timeoutMs)])
  if (code === undefined) throw new Error('The server did not end when it was asked to.')
  // Windows knows no polite end of a process: there it is killed, whatever the signal.
  if (code !== 0 && process.platform !== 'win32') throw new Error(`The server ended with ${code}.`)
  console.log('SIGTERM          ended cleanly')
}
