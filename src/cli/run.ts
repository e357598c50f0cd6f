import { type Command, commonFlagsHelp } from './command.ts'
import type { CliContext } from './context.ts'
import { failureJson, toFailure, UsageError } from './errors.ts'
import { suggestion } from '../lib/near-match.ts'
import { loggable } from '../lib/text.ts'
import { workerCommand } from './serve/workers/procedures.ts'

/** Runs the command of these arguments; returns the exit code: 0 success, 1 failure, 2 wrong usage. */
export async function run(args: readonly string[], context: CliContext): Promise<number> {
  try {
    return await dispatch(args, context)
  } catch (error) {
    const failure = toFailure(error)
    const stack = context.environment.WEIR_DEBUG && error instanceof Error ? error.stack : undefined
    if (flagsOf(args).includes('--json')) context.err(failureJson(failure, stack))
    else context.err(stack ? `${failure.message}\n${stack}` : failure.message)
    return failure.exitCode
  }
}

async function dispatch(args: readonly string[], context: CliContext): Promise<number> {
  const [first, ...rest] = args
  if (first === '--help' || first === '-h') return help([], context)
  if (first === 'help') return help(rest, context)
  if (first === '--version') return runCommand(await findCommand('version'), rest, context)
  if (first === undefined || first.startsWith('-'))
    return runCommand(await findCommand('serve'), args, context)
  return runCommand(await findCommand(first), rest, context)
}

async function help([name]: readonly string[], context: CliContext): Promise<number> {
  context.out(name === undefined || name.startsWith('-') ? overview() : (await findCommand(name)).usage)
  return 0
}

async function runCommand(command: Command, args: readonly string[], context: CliContext): Promise<number> {
  if (!isHelpRequest(args)) return command.run(args, context)
  context.out(command.usage)
  return 0
}

function isHelpRequest(args: readonly string[]): boolean {
  const flags = flagsOf(args)
  return flags.includes('--help') || flags.includes('-h')
}

/** Returns the arguments before `--`: after it there are no flags. */
function flagsOf(args: readonly string[]): readonly string[] {
  const end = args.indexOf('--')
  return end < 0 ? args : args.slice(0, end)
}

/** The commands and their one-line descriptions, in the order of the help text. */
const summaries = {
  serve: 'start the gateway; the default command',
  open: 'open the page of a running gateway in the browser',
  check: 'validate the settings and show which providers have API keys',
  health: 'check that a running gateway is ready, for containers and monitors',
  orgs: 'manage organizations: balances, billing, budgets and limits',
  projects: 'manage projects: budgets, limits and models of persons and teams',
  keys: 'manage API keys: budgets, limits, models and expiry',
  'admin-keys': 'manage admin keys, the keys of operators',
  models: 'list the enabled models, with prices and routes',
  webhooks: 'test the endpoints of webhooks, and retry what they have missed',
  usage: 'report requests, tokens and costs by model, API key, tag and more',
  requests: 'list finished requests, and show what happened',
  audit: 'list changes: who changed what, when and from where',
  connect: 'print the settings that make a tool or an SDK use this gateway',
  import: 'convert the configuration of a LiteLLM proxy',
  bench: 'measure the latency and CPU time that the gateway adds',
  backup: 'back up the database, even while a server is running',
  copy: 'copy all data to another database: from SQLite to PostgreSQL, or back',
  licenses: 'print the licences of Weir and of what the executable contains',
  version: 'print the version of Weir',
}

type CommandName = keyof typeof summaries

/** A command is loaded on demand, so that help does not load the code of the server. */
const loaders: Readonly<Record<CommandName, () => Promise<{ readonly command: Command }>>> = {
  serve: () => import('./commands/serve.ts'),
  open: () => import('./commands/open.ts'),
  check: () => import('./commands/check.ts'),
  health: () => import('./commands/health.ts'),
  orgs: () => import('./commands/orgs.ts'),
  projects: () => import('./commands/projects.ts'),
  keys: () => import('./commands/keys.ts'),
  'admin-keys': () => import('./commands/admin-keys.ts'),
  models: () => import('./commands/models.ts'),
  webhooks: () => import('./commands/webhooks.ts'),
  usage: () => import('./commands/usage.ts'),
  requests: () => import('./commands/requests.ts'),
  audit: () => import('./commands/audit.ts'),
  connect: () => import('./commands/connect.ts'),
  import: () => import('./commands/import.ts'),
  bench: () => import('./commands/bench.ts'),
  backup: () => import('./commands/backup.ts'),
  copy: () => import('./commands/copy.ts'),
  licenses: () => import('./commands/licenses.ts'),
  version: () => import('./commands/version.ts'),
}

/** Every command, in the order of the help text. */
export const commands: readonly { readonly name: string; readonly summary: string }[] = Object.entries(
  summaries,
).map(([name, summary]) => ({ name, summary }))

/** Loads the command of this name; throws `UsageError` if there is none. */
export async function findCommand(name: string): Promise<Command> {
  if (name === workerCommand) return (await import('./serve/workers/worker.ts')).serveWorker
  const load = Object.hasOwn(loaders, name) ? loaders[name as CommandName] : undefined
  if (load !== undefined) return (await load()).command
  const guess = suggestion(name, Object.keys(loaders), '')
  throw new UsageError(
    `Unknown command “${loggable(name)}”. ${guess && `${guess} `}For help, run: weir --help`,
  )
}

/** The text of `weir --help`. */
function overview(): string {
  const width = Math.max(...commands.map(({ name }) => name.length))
  const list = commands.map(({ name, summary }) => `  ${name.padEnd(width)}  ${summary}`)
  return [introduction, 'Commands', ...list, '', commonFlagsHelp, '', closing].join('\n')
}

const introduction = `Weir: an inference gateway in one executable.
It serves the models of many providers behind the APIs of OpenAI and Anthropic.

Usage
  weir [COMMAND] [flags]         without a command: weir serve

Examples
  weir                           serve on 127.0.0.1:9347
  weir --port 8080               serve on another port
  weir check                     validate the settings
`

const closing = 'For the arguments, flags and examples of a command, run: weir COMMAND --help'
