import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { lazy } from '../../lib/lazy.ts'
import { createApiKey, printApiKey } from '../../domain/accounting/organization.ts'
import { CommandError } from '../errors.ts'
import { programCommand } from '../invocation.ts'
import {
  chatCompletion,
  chatFrames,
  jsonReply,
  type ScriptedReply,
  startUpstream,
  streamReply,
} from './upstream.ts'

/** A gateway and the scripted provider behind it; both are stopped at the end of the scope. */
export type BenchGateway = AsyncDisposable & {
  readonly url: string
  readonly key: string
  readonly pid: number
  /** The URL of the scripted provider. */
  readonly upstream: string
}

const logName = 'server.log'

/** Chunks of content in a stream. */
export const streamLength = 100
/** Between two chunks of the model `bench/paced`. */
const chunkIntervalMs = 10

/** Starts this program, or the given one, in its own process with a temporary database. */
export async function startBenchGateway(program = programCommand()): Promise<BenchGateway> {
  const upstream = startUpstream(replyTo)
  const folder = await mkdtemp(join(tmpdir(), 'weir-bench-'))
  const key = printApiKey(createApiKey())
  const child = await spawnServer(program, folder, key, upstream.url)
  const end = lazy(async () => {
    child.kill('SIGKILL')
    await child.exited
    upstream.stop()
    await rm(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 })
  })
  // A child process outlives its parent unless it is stopped.
  const interrupted = () => void end().finally(() => process.exit(1))
  process.on('SIGINT', interrupted)
  process.on('SIGTERM', interrupted)
  const dispose = async () => {
    process.off('SIGINT', interrupted)
    process.off('SIGTERM', interrupted)
    await end()
  }
  try {
    const url = await readAddress(child.stdout, Bun.file(join(folder, logName)))
    return { url, key, pid: child.pid, upstream: upstream.url, [Symbol.asyncDispose]: dispose }
  } catch (error) {
    await dispose()
    throw error
  }
}

async function spawnServer(program: readonly string[], folder: string, key: string, upstream: string) {
  const settings = join(folder, 'weir.yaml')
  await Bun.write(settings, JSON.stringify(settingsFor(upstream)))
  return Bun.spawn([...program, 'serve'], {
    cwd: folder,
    // Nothing is inherited: the keys in this environment would enable other providers.
    env: {
      HOME: folder,
      USERPROFILE: folder,
      ...(process.env.SystemRoot && { SystemRoot: process.env.SystemRoot }),
      WEIR_CONFIG: settings,
      WEIR_DATA: join(folder, 'data'),
      WEIR_BOOTSTRAP_KEY: key,
      BUN_CONFIG_MAX_HTTP_REQUESTS: '65535',
    },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: Bun.file(join(folder, logName)),
  })
}

/** Written as JSON, which is YAML. The limits are enforced but never reached. */
function settingsFor(upstream: string): object {
  const provider = { kind: 'openai-compatible', base_url: `${upstream}/v1`, api_key: 'sk-bench' }
  const model = (name: string) => ({
    slug: `bench/${name}`,
    pricing: { input: 1, output: 4 },
    routes: [{ provider: 'bench', model: name }],
  })
  return {
    host: '127.0.0.1',
    port: 0,
    providers: { bench: provider },
    models: [model('plain'), model('burst'), model('paced')],
    limits: { requests_per_minute: 10 ** 9, tokens_per_minute: 10 ** 12, concurrent_requests: 100_000 },
  }
}

const plainReply: ScriptedReply = { first: jsonReply(chatCompletion()) }
const chunks = streamReply(chatFrames(streamLength))
const burstReply: ScriptedReply = { first: Buffer.concat(chunks) }
const [firstChunk = new Uint8Array(), ...rest] = chunks
const pacedReply: ScriptedReply = {
  first: firstChunk,
  paced: { chunks: rest, intervalMs: chunkIntervalMs, minOpenStreams: 1 },
}

/** The name of the model is at the beginning of the body, whether the caller or the gateway wrote it. */
function replyTo(_: string, body: string): ScriptedReply {
  if (body.includes('burst"')) return burstReply
  return body.includes('paced"') ? pacedReply : plainReply
}

const startTimeoutMs = 10_000
/** In characters; the request log follows the banner. */
const maxBannerLength = 4000

/**
 * Resolves with the address that a server prints on its standard output. The output is read to its end, because a full
 * pipe would block the server. Rejects with the log when the server does not start.
 */
async function readAddress(
  output: ReadableStream<Uint8Array>,
  errors: { text(): Promise<string> },
): Promise<string> {
  const address = Promise.withResolvers<string | undefined>()
  const timeout = setTimeout(() => address.resolve(undefined), startTimeoutMs)
  let received = ''
  const reading = readText(output, (text) => {
    if (received.length > maxBannerLength) return
    received += text
    const [, url] = /listens on (\S+)\n/.exec(received) ?? []
    if (url !== undefined) address.resolve(url)
  })
  reading.then(() => address.resolve(undefined), address.reject)
  const url = await address.promise.finally(() => clearTimeout(timeout))
  if (url !== undefined) return url
  const message = received.trim() || (await errors.text()).trim() || 'none'
  throw new CommandError(`The gateway for the benchmark did not start. Its output: ${message}`)
}

async function readText(output: ReadableStream<Uint8Array>, onText: (text: string) => void): Promise<void> {
  const decoder = new TextDecoder()
  for await (const bytes of output) onText(decoder.decode(bytes, { stream: true }))
}
