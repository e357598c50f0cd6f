import { Database } from 'bun:sqlite'
import { mkdir, mkdtemp, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { databaseName } from '../../../src/storage/sqlite/connection/database.ts'
import { runWeir } from '../../cli/support/run-weir.ts'
import { startWeir, type WeirProcess } from '../../reliability/operation/support/weir-process.ts'
import type { AgentPlan } from './agent-plan.ts'
import { type AgentProvider, startAgentProvider } from './agent-provider.ts'
import type { AgentProtocol } from './agent-protocols.ts'
import { type ProxyTrap, startProxyTrap } from './proxy-trap.ts'
import { type Recorder, startRecorder } from './recorder.ts'
import { type ProgramResult, runProgram } from './run-program.ts'

/** A program, a folder that it works in, a gateway, and the provider behind it. */
export type Workbench = AsyncDisposable & {
  readonly weir: WeirProcess
  readonly provider: AgentProvider
  readonly recorder: Recorder
  readonly trap: ProxyTrap
  /** The folder that the program works in. */
  readonly work: string
  /** The home folder of the program. */
  readonly home: string
  /** Runs the program with the settings that `weir connect` has printed, and with these variables. */
  run(args: readonly string[], options?: RunOptions): Promise<ProgramResult>
  /** The usage rows, oldest first. */
  usage(): readonly UsageRow[]
  /** The report of `weir usage`. */
  report(): Promise<UsageReport>
}

export type RunOptions = {
  readonly environment?: Readonly<Record<string, string | undefined>>
  readonly timeoutMs?: number
}

/** What the tests read of a usage row. */
export type UsageRow = {
  readonly api: string
  readonly status: number
  readonly model: string
  readonly prompt_tokens: number
  readonly completion_tokens: number
}

/** What the tests read of a usage report. */
export type UsageReport = { readonly total: { readonly requests: number; readonly failed: number } }

export type WorkbenchOptions = {
  /** The operand of `weir connect`. */
  readonly tool: 'claude-code' | 'codex'
  /** The path of the program. */
  readonly program: string
  readonly protocol: AgentProtocol
  /** The plan of the model, for work in this folder. */
  readonly plan: (work: string) => AgentPlan
  /** The slug of the model: `acme/river` by default. */
  readonly slug?: string
  /** Other names of the model. */
  readonly aliases?: readonly string[]
  /** The model in the settings of the program. */
  readonly model?: string
  /** More settings of the gateway. */
  readonly settings?: object
}

/** Starts all of it, and configures the program as `weir connect` says. */
export async function startWorkbench(options: WorkbenchOptions): Promise<Workbench> {
  await using stack = new AsyncDisposableStack()
  // The path that programs see: the folder of temporary files may be a link.
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'weir-tools-')))
  stack.defer(() => rm(folder, { recursive: true, force: true }))
  const [gateway, home, work] = ['gateway', 'home', 'work'].map((name) => join(folder, name)) as Folders
  await Promise.all([gateway, home, work].map((path) => mkdir(path)))
  await Bun.$`git init --quiet ${work}`.env({ HOME: home, PATH: process.env.PATH }).quiet()
  const provider = stack.use(await startAgentProvider(options.protocol, options.plan(work)))
  const weir = stack.use(await startWeir({ folder: gateway, settings: settingsFor(provider, options) }))
  const trap = stack.use(await startProxyTrap())
  const recorder = stack.use(startRecorder(weir.url))
  const { environment, files } = await connect(options, recorder.url, gateway)
  for (const { path, content } of files) await writeFile(path.replace('~', home), content)
  const database = stack.adopt(
    new Database(join(gateway, databaseName), { readonly: true }),
    (database) => database.close(),
  )
  const owned = stack.move()
  const common = { HOME: home, PATH: process.env.PATH, TERM: 'dumb', ...trap.environment, ...environment }
  return {
    weir,
    provider,
    recorder,
    trap,
    work,
    home,
    run: (args, { environment = {}, timeoutMs = 60_000 } = {}) =>
      runProgram([options.program, ...args], {
        cwd: work,
        environment: defined({ ...common, ...environment }),
        timeoutMs,
      }),
    usage: () => database.query<UsageRow, []>('SELECT * FROM usage ORDER BY id').all(),
    report: async () => JSON.parse((await runWeir(['usage', '--json'], gateway, { WEIR_DATA: gateway })).out),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

type Folders = [gateway: string, home: string, work: string]

function settingsFor({ url }: AgentProvider, { protocol, slug = 'acme/river', aliases = [], settings }: WorkbenchOptions): object {
  const base_url = protocol.kind === 'openai-compatible' ? `${url}/v1` : url
  return {
    providers: { acme: { kind: protocol.kind, base_url, api_key: 'sk-provider-0123456789abcdef' } },
    models: [
      {
        slug,
        aliases,
        context_window: 200_000,
        max_output_tokens: 64_000,
        routes: [{ provider: 'acme', model: 'river-1' }],
      },
    ],
    retries: { attempts: 0 },
    ...settings,
  }
}

/** What `weir connect TOOL --json` prints, with a key of its own. */
type Connection = {
  readonly environment: Readonly<Record<string, string>>
  readonly files: readonly { readonly path: string; readonly content: string }[]
}

async function connect(
  { tool, slug = 'acme/river', model = slug }: WorkbenchOptions,
  url: string,
  folder: string,
): Promise<Connection> {
  const args = ['connect', tool, '--create-key', '--model', model, '--url', url, '--json']
  const { code, out, err } = await runWeir(args, folder, { WEIR_DATA: folder })
  if (code !== 0) throw new Error(`weir connect has failed: ${err}`)
  return JSON.parse(out)
}

async function writeFile(path: string, content: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true })
  await Bun.write(path, content)
}

function defined(environment: Readonly<Record<string, string | undefined>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(environment).filter((entry): entry is [string, string] => entry[1] !== undefined),
  )
}
