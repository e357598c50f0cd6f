import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '../../../src/build/installation.ts'
import { databaseEnvironment } from '../../support/database-connection.ts'
import { openBillingDatabase } from '../../support/billing-database.ts'
import { startProgram } from '../programs.ts'

/** Slots of each engine. */
export const slots = 4

/** Engines of llama.cpp, and Weir before them. */
export type Engines = {
  /** The addresses of the engines, with `/v1`. */
  readonly engines: readonly string[]
  /** The address of Weir, with `/v1`. */
  readonly weir: string
  /** A key for each organization that was asked for. */
  readonly keys: readonly string[]
  [Symbol.asyncDispose](): Promise<void>
}

export type EnginesOptions = {
  readonly executable: string
  readonly count: number
  readonly affinity: 'session' | 'none'
  /** Whether Weir queues what the engines have no slot for. */
  readonly queues: boolean
}

/**
 * The command of the llama.cpp that `LLAMA_SERVER` and `LLAMA_MODEL` name; undefined without them. It has few threads
 * for requests unless it is told otherwise, and idle connections keep them.
 */
export function llamaServer(): readonly string[] | undefined {
  const { LLAMA_SERVER: server, LLAMA_MODEL: model } = process.env
  if (!server || !model) return undefined
  const context = String(slots * 16_384)
  const threads = ['-t', '1', '--threads-http', '64', '--metrics']
  return [server, '-m', model, '--host', '127.0.0.1', '-np', String(slots), '-c', context, ...threads]
}

/** Starts so many engines, and Weir with one model that has a route to each of them. */
export async function startEngines(command: readonly string[], options: EnginesOptions): Promise<Engines> {
  await using started = new AsyncDisposableStack()
  const folder = await mkdtemp(join(tmpdir(), 'weir-engine-'))
  started.defer(() => rm(folder, { recursive: true, force: true }))
  const engines: string[] = []
  for (let index = 0; index < options.count; index++) {
    const url = `http://127.0.0.1:${await freePort()}`
    const program = [...command, '--port', new URL(url).port]
    const engine = await startProgram(program, { cwd: await mkdtemp(join(folder, 'engine-')), url })
    started.defer(() => engine.stop())
    await untilReady(url)
    engines.push(`${url}/v1`)
  }
  await Bun.write(join(folder, 'weir.yaml'), JSON.stringify(settingsFor(engines, options)))
  const weir = `http://127.0.0.1:${await freePort()}`
  const serve = [options.executable, 'serve', '--host', '127.0.0.1', '--port', new URL(weir).port]
  const database = join(folder, 'weir.db')
  const environment = {
    WEIR_CONFIG: join(folder, 'weir.yaml'),
    ...databaseEnvironment(database),
    WEIR_BOOTSTRAP_KEY: '',
  }
  const server = await startProgram(serve, { cwd: folder, environment, url: `${weir}/livez` })
  started.defer(() => server.stop())
  const keys = await createKeys(database)
  const parts = started.move()
  return { engines, weir: `${weir}/v1`, keys, [Symbol.asyncDispose]: () => parts.disposeAsync() }
}

function settingsFor(engines: readonly string[], { affinity, queues }: EnginesOptions) {
  const queue = queues ? { concurrency: slots, queue: { wait: '10m', length: 100 } } : {}
  return {
    log: 'off',
    providers: Object.fromEntries(
      engines.map((base_url, index) => [`engine-${index}`, { kind: 'llamacpp', base_url, ...queue }]),
    ),
    models: [
      {
        slug: 'acme/river',
        affinity,
        routes: engines.map((_, index) => ({ provider: `engine-${index}`, model: 'river', weight: 1 })),
      },
    ],
    limits: { requests_per_minute: 1e9, tokens_per_minute: 1e9, concurrent_requests: 1e5 },
  }
}

/** It answers with 503 while it loads the model. */
async function untilReady(url: string): Promise<void> {
  while (!(await fetch(`${url}/health`)).ok) await Bun.sleep(50)
}

async function createKeys(database: string): Promise<readonly string[]> {
  await using books = await openBillingDatabase(database)
  await books.fund('bench', '0', 'unmetered')
  return [await books.keyOf('bench'), await books.keyOf('bench')]
}
