import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { lazy } from '../../lib/lazy.ts'
import { createApiKey, printApiKey } from '../../domain/accounting/api-key.ts'
import { CommandError } from '../errors.ts'
import { programCommand } from '../invocation.ts'

/** A gateway and the simulated provider behind it; both are stopped at the end of the scope. */
export type BenchGateway = AsyncDisposable & {
  readonly url: string
  readonly key: string
  readonly pid: number
  /** The URL of the simulated provider. */
  readonly upstream: string
}

const logName = 'server.log'

/** Chunks of content in a stream. */
export const streamLength = 100
/** Between two chunks of the model `bench/paced`. */
const chunkIntervalMs = 10

/** Starts this program, or the given one, in its own process with a temporary database. */
export async function startBenchGateway(program = programCommand()): Promise<BenchGateway> {
  const provider = startProvider()
  const upstream = `http://127.0.0.1:${provider.port}`
  const folder = await mkdtemp(join(tmpdir(), 'weir-bench-'))
  const key = printApiKey(createApiKey())
  const child = await spawnServer(program, folder, key, upstream)
  const end = lazy(async () => {
    child.kill('SIGKILL')
    await child.exited
    await provider.stop(true)
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
    return { url, key, pid: child.pid, upstream, [Symbol.asyncDispose]: dispose }
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

/** Starts the simulated provider; the name of a model picks the way in which it replies. */
function startProvider() {
  const headers = { 'content-type': 'text/event-stream; charset=utf-8' }
  return Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    idleTimeout: 0,
    async fetch(request) {
      const { model } = (await request.json()) as { readonly model: string }
      if (model.endsWith('burst')) return new Response(burst, { headers })
      return model.endsWith('paced') ? new Response(pacedFrames(), { headers }) : Response.json(completion)
    },
  })
}

const common = { id: 'chatcmpl-9Xk2mQ7vTz', created: 1_790_000_000, model: 'river-1' }
const usage = { prompt_tokens: 48, completion_tokens: 101, total_tokens: 149 }
const content = 'The river rose four centimetres during the night. '.repeat(6)
const message = { role: 'assistant', content, refusal: null }
const completion = {
  ...common,
  object: 'chat.completion',
  choices: [{ index: 0, message, logprobs: null, finish_reason: 'stop' }],
  usage,
}

const chunkFields = { ...common, object: 'chat.completion.chunk' }
const frames = [
  ...Array.from({ length: streamLength }, (_, index) => frame({ role: 'assistant', content: ` w${index}` })),
  `${frame({}, 'stop')}data: ${JSON.stringify({ ...chunkFields, choices: [], usage })}\n\ndata: [DONE]\n\n`,
]
const burst = frames.join('')

function frame(delta: object, finish_reason: string | null = null): string {
  const choice = { index: 0, delta, logprobs: null, finish_reason }
  return `data: ${JSON.stringify({ ...chunkFields, choices: [choice] })}\n\n`
}

/** The streams of many callers do not send at the same moments. */
async function* pacedFrames() {
  await Bun.sleep(Math.random() * chunkIntervalMs)
  for (const text of frames) {
    yield text
    await Bun.sleep(chunkIntervalMs)
  }
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
