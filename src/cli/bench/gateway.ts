import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { lazy } from '../../lib/lazy.ts'
import { createApiKey, printApiKey } from '../../domain/accounting/api-key.ts'
import { addressOf } from './address.ts'
import { chatCompletion, chatFrames, jsonReply, streamReply } from './replies.ts'
import { type Answer, startUpstream } from './upstream.ts'
import { ownProgram } from '../request-limit.ts'

/** A gateway that was started to be measured, and the provider behind it; gone at the end of the scope. */
export type OwnGateway = AsyncDisposable & {
  readonly url: string
  readonly key: string
  readonly pid: number
  /** The address of the provider. */
  readonly upstream: string
}

const logName = 'server.log'

/** The words of a stream. */
export const streamLength = 100
/** Milliseconds between two words of a stream of `bench/paced`. */
const pace = 10

/** Starts this program, or the given one, as a server of its own process, with a database that is not kept. */
export async function ownGateway(program = ownProgram()): Promise<OwnGateway> {
  const upstream = startUpstream(answerTo)
  const folder = await mkdtemp(join(tmpdir(), 'weir-bench-'))
  const key = printApiKey(createApiKey())
  const child = await spawnServer(program, folder, key, upstream.url)
  const end = lazy(async () => {
    child.kill('SIGKILL')
    await child.exited
    upstream.stop()
    await rm(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 })
  })
  // A child outlives the process that started it, unless it is told to end.
  const interrupted = () => void end().finally(() => process.exit(1))
  process.on('SIGINT', interrupted)
  process.on('SIGTERM', interrupted)
  const dispose = async () => {
    process.off('SIGINT', interrupted)
    process.off('SIGTERM', interrupted)
    await end()
  }
  try {
    const url = await addressOf(child.stdout, Bun.file(join(folder, logName)))
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
    // Nothing of this environment: a provider whose key is in it has no part in this.
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

/** JSON is YAML. The limits are counted and never reached. */
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
    models: [model('whole'), model('burst'), model('paced')],
    limits: { requests_per_minute: 10 ** 9, tokens_per_minute: 10 ** 12, concurrent_requests: 100_000 },
  }
}

const whole: Answer = { first: jsonReply(chatCompletion()) }
const pieces = streamReply(chatFrames(streamLength))
const burst: Answer = { first: Buffer.concat(pieces) }
const [firstPiece = new Uint8Array(), ...rest] = pieces
const paced: Answer = { first: firstPiece, paced: { pieces: rest, interval: pace, together: 1 } }

/** The model is named at the beginning of the body, by the caller as by the gateway. */
function answerTo(_: string, body: string): Answer {
  if (body.includes('burst"')) return burst
  return body.includes('paced"') ? paced : whole
}
