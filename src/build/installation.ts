import { dirname, join } from 'node:path'
import { withTimeout } from '../lib/time.ts'

/** Returns an environment with only what a program needs to run, and another home folder. */
export function bareEnvironment(home: string): Record<string, string> {
  const inherited = ['PATH', 'SystemRoot'].flatMap((name) => {
    const value = process.env[name]
    return value === undefined ? [] : [[name, value]]
  })
  return { ...Object.fromEntries(inherited), HOME: home, USERPROFILE: home, TMPDIR: home, TEMP: home }
}

/** Returns a free port. */
export async function freePort(): Promise<number> {
  const server = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: () => new Response() })
  const { port } = server
  await server.stop(true)
  if (port === undefined) throw new Error('No free port was found.')
  return port
}

/** An executable with its working folder and its environment. */
export type Installation = {
  readonly executable: string
  readonly folder: string
  readonly environment: Readonly<Record<string, string>>
}

/** A server process, which is killed at the end of the scope. */
type Server = AsyncDisposable & {
  readonly address: string
  /** Sends SIGKILL. */
  kill(): Promise<void>
  /** Sends SIGTERM and expects exit code 0. */
  stop(): Promise<void>
}

const timeoutMs = 20_000

/** Starts an executable and waits for its readiness. */
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
    await waitUntilReady(address, child)
  } catch (error) {
    await kill(child)
    throw new Error(`The server did not become ready. Its log:\n${await log.text()}`, { cause: error })
  }
  console.log(`ready            after ${Math.round(performance.now() - started)} ms`)
  return {
    address,
    kill: () => kill(child),
    stop: () => stop(child),
    [Symbol.asyncDispose]: () => kill(child),
  }
}

async function waitUntilReady(address: string, child: Bun.Subprocess): Promise<void> {
  const endsAt = performance.now() + timeoutMs
  while (performance.now() < endsAt && child.exitCode === null) {
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
  const tooLong = () => new Error('The server did not stop on SIGTERM.')
  const code = await withTimeout(child.exited, timeoutMs, tooLong)
  // Windows has no SIGTERM: there the process is always killed.
  if (code !== 0 && process.platform !== 'win32') throw new Error(`The server ended with ${code}.`)
  console.log('SIGTERM          ended cleanly')
}
