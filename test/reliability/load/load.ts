import { temporaryHome } from '../../unit/config/support/temporary-home.ts'
import { firstKey } from '../../support/app.ts'
import type { ReceivedStreams } from './client.ts'
import { outputOf, type Serving, startServing } from './program.ts'

/** The program, a provider and clients, each in a process of its own. */
export type Load = AsyncDisposable & {
  readonly weir: Serving
  /** All clients send their requests at the same time; resolves when all have their responses. */
  ask(): Promise<ReceivedStreams>
  /** How many calls the provider had open at the same moment. */
  mostOpen(): Promise<number>
}

export type LoadOptions = {
  readonly streams: number
  readonly chunks: number
  /** Milliseconds between the chunks of a stream. */
  readonly interval: number
}

/** Lifts the limit of the clients, not that of the program: that one does it itself. */
const liftedLimit = { BUN_CONFIG_MAX_HTTP_REQUESTS: '65535' }

/** Starts the program in front of a provider that responds when this many calls are open. */
export async function startLoad({ streams, chunks, interval }: LoadOptions): Promise<Load> {
  const upstream = await startServing([
    'test/reliability/load/upstream.ts',
    ...[streams, chunks, interval].map(String),
  ])
  const home = temporaryHome({ 'work/weir.yaml': settingsFor(upstream.url) })
  const weir = await startServing(['src/main.ts', 'serve', '--host', '127.0.0.1', '--port', '0'], {
    HOME: home.place('work'),
    WEIR_CONFIG: home.place('work/weir.yaml'),
    WEIR_DATA: home.place('data'),
    WEIR_BOOTSTRAP_KEY: firstKey,
  })
  return {
    weir,
    async ask() {
      const client = ['test/reliability/load/client.ts', weir.url, firstKey, String(streams)]
      return JSON.parse(await outputOf(client, liftedLimit)) as ReceivedStreams
    },
    async mostOpen() {
      const state = (await (await fetch(upstream.url)).json()) as { readonly most: number }
      return state.most
    },
    async [Symbol.asyncDispose]() {
      await weir[Symbol.asyncDispose]()
      await upstream[Symbol.asyncDispose]()
      home[Symbol.dispose]()
    },
  }
}

/** JSON is YAML. */
function settingsFor(upstream: string): string {
  const acme = { kind: 'openai-compatible', base_url: `${upstream}/v1`, api_key: 'sk-provider' }
  const river = { slug: 'acme/river', routes: [{ provider: 'acme', model: 'river-1' }] }
  return JSON.stringify({ providers: { acme }, models: [river], limits: { requests_per_minute: 100_000 } })
}
