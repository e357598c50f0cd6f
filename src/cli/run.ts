import { type Command, commonFlagsHelp } from './command.ts'
import type { CliContext } from './context.ts'
import { failureJson, toFailure, UsageError } from './errors.ts'
import { nearMatch } from '../lib/near-match.ts'
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

/** A command that is loaded on demand, so that help does not load the code of the server. */
type CommandEntry = {
  readonly name: string
  readonly summary: string
  load(): Promise<{ readonly command: Command }>
}

/** Every command, in the order of the help text. */
export const commands: readonly CommandEntry[] = [
  entry('serve', 'start the gateway; the default command', () => import('./commands/serve.ts')),
  entry('open', 'open the page of a running gateway in the browser', () => import('./commands/open.ts')),
  entry(
    'check',
    'validate the settings and show which providers have API keys',
    () => import('./commands/check.ts'),
  ),
  entry(
    'health',
    'check that a running gateway is ready, for containers and monitors',
    () => import('./commands/health.ts'),
  ),
  entry(
    'orgs',
    'manage organizations: balances, billing, budgets and limits',
    () => import('./commands/orgs.ts'),
  ),
  entry(
    'projects',
    'manage projects: budgets, limits and models of persons and teams',
    () => import('./commands/projects.ts'),
  ),
  entry('keys', 'manage API keys: budgets, limits, models and expiry', () => import('./commands/keys.ts')),
  entry('admin-keys', 'manage admin keys, the keys of operators', () => import('./commands/admin-keys.ts')),
  entry('models', 'list the enabled models, with prices and routes', () => import('./commands/models.ts')),
  entry(
    'webhooks',
    'test the endpoints of webhooks, and retry what they have missed',
    () => import('./commands/webhooks.ts'),
  ),
  entry(
    'usage',
    'report requests, tokens and costs by model, API key, tag and more',
    () => import('./commands/usage.ts'),
  ),
  entry('requests', 'list finished requests, and show what happened', () => import('./commands/requests.ts')),
  entry('audit', 'list changes: who changed what, when and from where', () => import('./commands/audit.ts')),
  entry(
    'connect',
    'print the settings that make a tool or an SDK use this gateway',
    () => import('./commands/connect.ts'),
  ),
  entry('import', 'convert the configuration of a LiteLLM proxy', () => import('./commands/import.ts')),
  entry(
    'bench',
    'measure the latency and CPU time that the gateway adds',
    () => import('./commands/bench.ts'),
  ),
  entry(
    'backup',
    'back up the database, even while a server is running',
    () => import('./commands/backup.ts'),
  ),
  entry(
    'copy',
    'copy all data to another database: from SQLite to PostgreSQL, or back',
    () => import('./commands/copy.ts'),
  ),
  entry(
    'licenses',
    'print the licences of Weir and of what the executable contains',
    () => import('./commands/licenses.ts'),
  ),
  entry('version', 'print the version of Weir', () => import('./commands/version.ts')),
]

function entry(name: string, summary: string, load: CommandEntry['load']): CommandEntry {
  return { name, summary, load }
}

/** Loads the command of this name; throws `UsageError` if there is none. */
export async function findCommand(name: string): Promise<Command> {
  if (name === workerCommand) return (await import('./commands/serve-worker.ts')).serveWorker
  const entry = commands.find((entry) => entry.name === name)
  if (entry !== undefined) return (await entry.load()).command
  const near = nearMatch(
    name,
    commands.map(({ name }) => name),
  )
  const guess = near === undefined ? '' : ` Did you mean ${near}?`
  throw new UsageError(`Unknown command “${loggable(name)}”.${guess} For help, run: weir --help`)
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
