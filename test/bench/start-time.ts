import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '../../src/build/installation.ts'
import { smallBody } from './bodies.ts'
import { dialectOf } from './replies.ts'
import { jsonReply, startUpstream } from './scripted-upstream.ts'

/** Milliseconds of each run. */
export type StartTimes = {
  /** From the start of the executable to its readiness, with no database: it is created. */
  readonly empty: readonly number[]
  /** The same with the database of an earlier start. */
  readonly existing: readonly number[]
  /** By which the first chat completion of a server takes longer than the second. */
  readonly first: readonly number[]
}

const runs = 7
const chatPath = '/v1/chat/completions'
const model = 'bench/chat'
const key = 'sk-weir-Bench0000000-SecretSecretSecretSecretSecret00'
const timeoutMs = 10_000
const pollMs = 1

/** Starts the executable several times, each time in an empty folder and then once more in the same one. */
export async function measureStart(executable: string): Promise<StartTimes> {
  const [empty, existing, first]: [number[], number[], number[]] = [[], [], []]
  using upstream = startProvider()
  for (let run = 0; run < runs; run++) {
    const folder = await mkdtemp(join(tmpdir(), 'weir-bench-start-'))
    try {
      await Bun.write(join(folder, 'weir.yaml'), JSON.stringify(settingsFor(upstream.url)))
      empty.push(await startIn(folder, executable))
      existing.push(await startIn(folder, executable, async (url) => void first.push(await firstOf(url))))
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  }
  return { empty, existing, first }
}

/** A provider that has sent replies before, and clients that have received some: only Weir is new. */
function startProvider() {
  const { url, stop } = startUpstream(() => ({ first: jsonReply(dialectOf(chatPath)?.whole()) }))
  return { url, [Symbol.dispose]: stop }
}

function settingsFor(upstream: string): object {
  return {
    providers: { chat: { kind: 'openai-compatible', base_url: `${upstream}/v1`, api_key: 'sk-bench' } },
    models: [{ slug: model, routes: [{ provider: 'chat', model: 'river-1' }] }],
  }
}

async function firstOf(url: string): Promise<number> {
  // As long as somebody needs to send the first request, and longer than the warm-up.
  await Bun.sleep(1000)
  const [first, second] = [await chat(url), await chat(url)]
  return first - second
}

async function chat(url: string): Promise<number> {
  const startedAt = performance.now()
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const reply = await fetch(url + chatPath, { method: 'POST', headers, body: smallBody(model) })
  await reply.text()
  if (reply.status !== 200) throw new Error(`A chat completion has the status ${reply.status}.`)
  return performance.now() - startedAt
}

async function startIn(
  folder: string,
  executable: string,
  whenReady?: (url: string) => Promise<void>,
): Promise<number> {
  const port = await freePort()
  const startedAt = performance.now()
  const child = Bun.spawn([executable, 'serve', '--port', String(port)], {
    cwd: folder,
    env: { PATH: process.env.PATH, HOME: folder, WEIR_DATA: join(folder, 'data'), WEIR_BOOTSTRAP_KEY: key },
    stdio: ['ignore', 'ignore', 'ignore'],
  })
  try {
    const url = `http://127.0.0.1:${port}`
    await waitUntilReady(`${url}/readyz`, startedAt + timeoutMs)
    const time = performance.now() - startedAt
    await whenReady?.(url)
    return time
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
