import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '../../src/build/installation.ts'

/** Milliseconds from the start of the executable to its readiness, of each run. */
export type StartTimes = {
  /** With no database: it is created. */
  readonly empty: readonly number[]
  /** With the database of an earlier start. */
  readonly existing: readonly number[]
}

const runs = 7
const timeoutMs = 10_000
const pollMs = 1

/** Starts the executable several times, each time in an empty folder and then once more in the same one. */
export async function measureStart(executable: string): Promise<StartTimes> {
  const [empty, existing]: [number[], number[]] = [[], []]
  for (let run = 0; run < runs; run++) {
    const folder = await mkdtemp(join(tmpdir(), 'weir-bench-start-'))
    try {
      empty.push(await startIn(folder, executable))
      existing.push(await startIn(folder, executable))
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  }
  return { empty, existing }
}

async function startIn(folder: string, executable: string): Promise<number> {
  const port = await freePort()
  const startedAt = performance.now()
  const child = Bun.spawn([executable, 'serve', '--port', String(port)], {
    cwd: folder,
    env: { PATH: process.env.PATH, HOME: folder, WEIR_DATA: join(folder, 'data') },
    stdio: ['ignore', 'ignore', 'ignore'],
  })
  try {
    await waitUntilReady(`http://127.0.0.1:${port}/readyz`, startedAt + timeoutMs)
    return performance.now() - startedAt
  } finally {
    child.kill('SIGTERM')
    await child.exited
  }
}

async function waitUntilReady(url: string, deadline: number): Promise<void> {
  while (performance.now() < deadline) {
    const reply = await fetch(url, { signal: AbortSignal.timeout(timeoutMs) }).catch(() => null)
    if (reply?.status === 200) return
    await Bun.sleep(pollMs)
  }
  throw new Error('The executable did not become ready.')
}
