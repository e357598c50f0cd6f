import { Database } from 'bun:sqlite'
import { mkdir, mkdtemp, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { databaseName } from '../../../src/storage/database-location.ts'
import { runWeir } from '../../cli/support/run-weir.ts'
import { startWeir, type WeirProcess } from '../../reliability/operation/support/weir-process.ts'
import type { AgentName } from '../../support/agent-fixture.ts'
import type { AgentPlan } from './agent-plan.ts'
import type { AgentProtocol } from './agent-protocols.ts'
import { type AgentProvider, startAgentProvider } from './agent-provider.ts'
import { type ProxyTrap, startProxyTrap } from './proxy-trap.ts'
import { type Recorder, startRecorder } from './recorder.ts'
import { type ProgramResult, runProgram } from './run-program.ts'

/** A program, a folder that it works in, a gateway, and the provider behind it. */
export type Workbench = AsyncDisposable & {
  readonly weir: WeirProcess
  readonly provider: AgentProvider
  readonly trap: ProxyTrap
  /** Between the program and the gateway, where the test has asked for it. */
  readonly recorder: Recorder
  /** The folder that the program works in. */
  readonly work: string
  /** The home folder of the program. */
  readonly home: string
  /** The key that `weir connect` has created. */
  readonly key: string
  /** Runs the program with the settings that `weir connect` has printed, and with these variables. */
  run(args: readonly string[], options?: RunOptions): Promise<ProgramResult>
  /** The usage rows, oldest first. */
  usage(): readonly UsageRow[]
  /** The report of `weir usage`. */
  report(): Promise<UsageReport>
}

export type RunOptions = {
  /** More variables; undefined unsets one. */
  readonly environment?: Readonly<Record<string, string | undefined>>
  readonly timeoutMs?: number
}

/** What the tests read of a usage row. */
export type UsageRow = {
  readonly api: string
  readonly status: number
  readonly error: string | null
  readonly model: string
  readonly prompt_tokens: number
  readonly completion_tokens: number
}

/** What the tests read of a usage report. */
export type UsageReport = { readonly total: { readonly requests: number; readonly failed: number } }

export type WorkbenchOptions = {
  /** The operand of `weir connect`. */
  readonly tool: AgentName
  /** The path of the program. */
  readonly program: string
  readonly protocol: AgentProtocol
  /** The plan of the model, for work in this folder. */
  readonly plan: (work: string) => AgentPlan
  /** The slug of the model: `acme/river` by default. */
  readonly slug?: string
  /** Other names of the model. */
  readonly aliases?: readonly string[]
  /** More settings of the gateway. */
  readonly settings?: object
  /** Whether the requests of the program are recorded. */
  readonly recorded?: boolean
}

/** Starts all of it, and configures the program as `weir connect` says. */
export async function startWorkbench(options: WorkbenchOptions): Promise<Workbench> {
  await using stack = new AsyncDisposableStack()
  const folders = await createFolders()
  stack.defer(() => rm(folders.root, { recursive: true, force: true }))
  const provider = stack.use(await startAgentProvider(options.protocol, options.plan(folders.work)))
  const settings = settingsFor(provider, options)
  const weir = stack.use(await startWeir({ folder: folders.gateway, settings }))
  const trap = stack.use(await startProxyTrap())
  const recorder = stack.use(startRecorder(weir.url))
  const { key, environment: connected } = await connect(
    options,
    options.recorded ? recorder.url : weir.url,
    folders,
  )
  const database = new Database(join(folders.gateway, databaseName), { readonly: true })
  stack.defer(() => database.close())
  const variables = { HOME: folders.home, PATH: process.env.PATH, TERM: 'dumb', ...trap.environment }
  const owned = stack.move()
  return {
    weir,
    provider,
    trap,
    recorder,
    work: folders.work,
    home: folders.home,
    key,
    run: (args, { environment = {}, timeoutMs = 60_000 } = {}) =>
      runProgram([options.program, ...args], {
        cwd: folders.work,
        environment: defined({ ...variables, ...connected, ...environment }),
        timeoutMs,
      }),
    usage: () => database.query<UsageRow, []>('SELECT * FROM usage ORDER BY id').all(),
    report: async () => JSON.parse(await weirOutput(['usage', '--json'], folders)),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

type Folders = {
  readonly root: string
  readonly gateway: string
  readonly home: string
  readonly work: string
}

/** The folders have their real paths, as programs print them: the folder of temporary files may be a link. */
async function createFolders(): Promise<Folders> {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'weir-tools-')))
  const [gateway, home, work] = [join(root, 'gateway'), join(root, 'home'), join(root, 'work')]
  await Promise.all([gateway, home, work].map((path) => mkdir(path)))
  await Bun.$`git init --quiet ${work}`.env({ HOME: home, PATH: process.env.PATH }).quiet()
  return { root, gateway, home, work }
}

function settingsFor({ url }: AgentProvider, options: WorkbenchOptions): object {
  const { protocol, slug = 'acme/river', aliases = [], settings } = options
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

type Connection = { readonly key: string; readonly environment: Readonly<Record<string, string>> }

/** Writes the files that `weir connect` prints for the tool and the model, and returns the variables, with a new key. */
async function connect(
  { tool, program, slug = 'acme/river' }: WorkbenchOptions,
  url: string,
  folders: Folders,
): Promise<Connection> {
  const args = ['connect', tool, '--create-key', '--model', slug, '--url', url, '--json']
  const { key, environment, files, command } = JSON.parse(await weirOutput(args, folders))
  for (const { path, content } of files) {
    const file = path.replace('~', folders.home)
    await mkdir(dirname(file), { recursive: true })
    await Bun.write(file, content)
  }
  await setUp(command, { program, folders, environment: { ...environment, WEIR_API_KEY: key } })
  return { key, environment }
}

/** Runs the commands that come before the one that starts the program. */
async function setUp(
  command: string,
  { program, folders, environment }: { program: string; folders: Folders } & Pick<Connection, 'environment'>,
): Promise<void> {
  const lines = command.split('\n').slice(0, -1).join('\n')
  if (lines === '') return
  const variables = { HOME: folders.home, PATH: `${dirname(program)}:${process.env.PATH}`, ...environment }
  const options = { cwd: folders.work, environment: variables, timeoutMs: 60_000 }
  const { code, out, err } = await runProgram(['sh', '-c', lines], options)
  if (code !== 0) throw new Error(`${lines} has failed: ${out}${err}`)
}

/** What a command of Weir prints, beside the gateway. */
async function weirOutput(args: readonly string[], { gateway }: Folders): Promise<string> {
  const { code, out, err } = await runWeir(args, gateway, { WEIR_DATA: gateway })
  if (code !== 0) throw new Error(`weir ${args[0]} has failed: ${err}`)
  return out
}

function defined(variables: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const isSet = (entry: [string, string | undefined]): entry is [string, string] => entry[1] !== undefined
  return Object.fromEntries(Object.entries(variables).filter(isSet))
}
