import { closeSync, openSync, readFileSync } from 'node:fs'
import { Secret } from '../../../../src/lib/secret.ts'
import type { SettingsFile } from '../../../../src/config/settings.ts'
import { firstKey } from '../../../support/app.ts'
import { type BillingDatabase, openBillingDatabase } from '../../../support/billing-database.ts'
import { pricing } from '../../../support/billing-scenario.ts'
import { databaseEnvironment } from '../../../support/database-connection.ts'
import { createMigratedDatabase } from '../../../support/postgres/migrated-database.ts'
import { sharedPostgres } from '../../../support/postgres/server.ts'
import { temporaryHome } from '../../../unit/config/support/temporary-home.ts'
import { type Serving, startServing } from '../../load/program.ts'

/** Several gateways on one database, of which any can be killed. */
export type Replicas = AsyncDisposable & {
  readonly books: BillingDatabase
  /** What was done to which process so far. */
  readonly hits: readonly Hit[]
  /** The warnings and errors that all of them have logged so far, as JSON. */
  log(): readonly string[]
  /** The addresses of those that serve. */
  urls(): readonly string[]
  /** Kills one of them, and resolves when another one serves in its place. */
  replaceOne(draw: () => number): Promise<void>
  /** Suspends one of them for this time, as a machine without processor time would. */
  suspendOne(draw: () => number, ms: number): Promise<void>
}

/** A process that was killed or suspended; `at` is milliseconds since 1970. */
export type Hit = { readonly at: number; readonly process: number; readonly signal: 'SIGKILL' | 'SIGSTOP' }

/** `weir serve` this many times on one PostgreSQL database, with further settings. */
export async function startReplicas(
  count: number,
  provider: string,
  settings: SettingsFile = {},
): Promise<Replicas> {
  const server = await sharedPostgres()
  const database = await createMigratedDatabase()
  const { serve, dispose, ...common } = await prepare(
    { ...settingsFor(provider), ...settings },
    new Secret(database),
  )
  const serving: Serving[] = await Promise.all(Array.from({ length: count }, serve))
  const draws = (draw: () => number) => serving[Math.floor(draw() * serving.length)]
  return {
    ...common,
    urls: () => serving.map(({ url }) => url),
    async replaceOne(draw) {
      const victim = draws(draw)
      if (victim === undefined) return
      serving.splice(serving.indexOf(victim), 1)
      common.note(victim.pid, 'SIGKILL')
      await victim[Symbol.asyncDispose]()
      serving.push(await serve())
    },
    suspendOne: async (draw, ms) => suspend(draws(draw)?.pid ?? 0, ms, common.note),
    async [Symbol.asyncDispose]() {
      await Promise.all(serving.map((one) => one[Symbol.asyncDispose]()))
      await dispose()
      await server.dropDatabase(database)
    },
  }
}

type NoteHit = (pid: number, signal: Hit['signal']) => void

async function suspend(pid: number, ms: number, note: NoteHit): Promise<void> {
  if (pid === 0) return
  note(pid, 'SIGSTOP')
  process.kill(pid, 'SIGSTOP')
  await Bun.sleep(ms)
  process.kill(pid, 'SIGCONT')
}

async function prepare(settings: SettingsFile, location: Secret) {
  const home = temporaryHome({ 'work/weir.yaml': JSON.stringify(settings) })
  const books = await openBillingDatabase(location)
  const environment = {
    HOME: home.place('work'),
    WEIR_CONFIG: home.place('work/weir.yaml'),
    WEIR_BOOTSTRAP_KEY: firstKey,
    ...databaseEnvironment(location),
  }
  const file = home.place('work/weir.log')
  const output = openSync(file, 'a')
  const hits: Hit[] = []
  const note: NoteHit = (process, signal) => hits.push({ at: Date.now(), process, signal })
  return {
    books,
    hits,
    note,
    log: () => readFileSync(file, 'utf8').split('\n').filter(isProblem),
    serve: () =>
      startServing(['src/main.ts', 'serve', '--host', '127.0.0.1', '--port', '0'], environment, output),
    async dispose() {
      closeSync(output)
      await books[Symbol.asyncDispose]()
      home[Symbol.dispose]()
    },
  }
}

function isProblem(line: string): boolean {
  return /"level":"(warn|error)"/.test(line)
}

/** Without retries, because each background run is to reach the provider once. */
function settingsFor(provider: string): SettingsFile {
  const routes = [{ provider: 'acme', model: 'river-1' }]
  return {
    providers: { acme: { kind: 'openai-compatible', base_url: provider, api_key: 'sk-provider' } },
    models: [{ slug: 'acme/river', pricing, max_output_tokens: 100, routes }],
    retries: { attempts: 0 },
    breaker: { failures: 1_000_000, cooldown: '1s' },
    limits: { requests_per_minute: 1_000_000, tokens_per_minute: 1_000_000_000 },
    background: { concurrency: 4 },
  }
}
