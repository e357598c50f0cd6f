import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '../../../src/build/installation.ts'
import { Secret } from '../../../src/lib/secret.ts'
import { parseUsd } from '../../../src/lib/usd.ts'
import type { DatabaseLocation } from '../../../src/storage/database-location.ts'
import { type BillingDatabase, openBillingDatabase, waitUntil } from '../../support/billing-database.ts'
import { databaseEnvironment } from '../../support/database-connection.ts'
import { startPostgres } from '../../support/postgres/server.ts'
import { type Program, startProgram } from '../programs.ts'
import { type Books, budget, type BudgetedGateway, inputPrice, maxTokens, outputPrice } from './spending.ts'

type Installed = {
  /** The words that start the command line. */
  readonly command: readonly string[]
  readonly folder: string
  readonly database: DatabaseLocation
}

/** One server on SQLite: one that is killed starts again. `command` starts the command line. */
export async function weirOnSqlite(command: readonly string[], provider: string): Promise<BudgetedGateway> {
  const installed = await install(command, provider, (folder) => join(folder, 'data', 'weir.db'))
  return await serve('Weir, one server on SQLite', installed, 1, async (servers, start) => {
    await servers.pop()?.stop()
    servers.push(await start())
  })
}

/** Three servers on one PostgreSQL: the others go on when one is killed. */
export async function weirOnPostgres(command: readonly string[], provider: string): Promise<BudgetedGateway> {
  const postgres = await startPostgres()
  const url = new Secret(await postgres.createDatabase())
  const installed = await install(command, provider, () => url)
  const kill = async (servers: Server[]) => void (await servers.pop()?.stop())
  const gateway = await serve('Weir, three servers on PostgreSQL', installed, 3, kill)
  return {
    ...gateway,
    async [Symbol.asyncDispose]() {
      await gateway[Symbol.asyncDispose]()
      await postgres.dispose()
    },
  }
}

async function install(
  command: readonly string[],
  provider: string,
  locate: (folder: string) => DatabaseLocation,
): Promise<Installed> {
  const folder = await mkdtemp(join(tmpdir(), 'weir-overspend-'))
  await mkdir(join(folder, 'data'))
  const settings = {
    providers: { acme: { kind: 'openai-compatible', base_url: provider, api_key: 'sk-provider' } },
    models: [
      {
        slug: 'acme/river',
        context_window: 8192,
        max_output_tokens: maxTokens,
        pricing: { input: inputPrice, output: outputPrice },
        routes: [{ provider: 'acme', model: 'river-1' }],
      },
    ],
    limits: { requests_per_minute: 1e9, tokens_per_minute: 1e9, concurrent_requests: 1e5 },
  }
  await Bun.write(join(folder, 'weir.yaml'), JSON.stringify(settings))
  return { command, folder, database: locate(folder) }
}

type Server = Program & { readonly url: string }

async function serve(
  name: string,
  installed: Installed,
  count: number,
  killOne: (servers: Server[], start: () => Promise<Server>) => Promise<void>,
): Promise<BudgetedGateway> {
  const start = () => startServer(installed)
  const servers = [await start()]
  while (servers.length < count) servers.push(await start())
  const books = await openBillingDatabase(installed.database)
  await books.fund('team', '1000')
  const limits = { budget: parseUsd(String(budget)) ?? 0n, budgetPeriod: 'month' } as const
  const { key } = await books.keys.create({ organization: 'team', name: 'agent', expiresAt: null, ...limits })
  return {
    name,
    key: key.reveal(),
    model: 'acme/river',
    urls: () => servers.map(({ url }) => url),
    kill: () => killOne(servers, start),
    books: () => readBooks(books),
    async [Symbol.asyncDispose]() {
      await books[Symbol.asyncDispose]()
      await Promise.all(servers.map((server) => server.stop()))
      await rm(installed.folder, { recursive: true, force: true })
    },
  }
}

async function startServer({ command, folder, database }: Installed): Promise<Server> {
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const serve = [...command, 'serve', '--host', '127.0.0.1', '--port', String(port)]
  const environment = {
    WEIR_CONFIG: join(folder, 'weir.yaml'),
    WEIR_BOOTSTRAP_KEY: '',
    ...databaseEnvironment(database),
  }
  const program = await startProgram(serve, { cwd: folder, environment, url: `${url}/livez` })
  return { ...program, url }
}

/** Longer than the others need to see that a server is gone, and to settle what it has left open. */
const settledMs = 60_000

async function readBooks(books: BillingDatabase): Promise<Books> {
  const isSettled = async () => (await books.openReservations()) === 0
  await waitUntil(isSettled, 'the settlement of all reservations', settledMs)
  await books.expectConsistent()
  const sum = async (what: string) => Number((await books.values(`SELECT ${what}`))[0]?.[0])
  const cost = await sum('sum(cost) FROM usage')
  const charged = await sum("-sum(amount) FROM ledger WHERE kind = 'charge'")
  const [spent, reserved] = [await sum('sum(spent) FROM budgets'), await sum('sum(reserved) FROM budgets')]
  return {
    spent: spent / 1e9,
    problems: [
      ...(reserved === 0 ? [] : [`${reserved} nano-dollars of the budget are still reserved.`]),
      ...(cost === spent && cost === charged
        ? []
        : [`The usage has ${cost}, the budget ${spent} and the ledger ${charged} nano-dollars.`]),
    ],
  }
}
