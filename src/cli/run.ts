import type { Command, CliContext } from './args.ts'
import { findCommand } from './commands/commands.ts'
import { failureJson, failureOf } from './failure.ts'
import { overview } from './help.ts'

/** Runs the command that the arguments name and gives the exit code: 0 done, 1 failed, 2 wrong usage. */
export async function run(args: readonly string[], world: CliContext): Promise<number> {
  try {
    return await dispatch(args, world)
  } catch (error) {
    const failure = failureOf(error)
    const stack = world.environment.WEIR_DEBUG && error instanceof Error ? error.stack : undefined
    if (flagsOf(args).includes('--json')) world.err(failureJson(failure, stack))
    else world.err(stack ? `${failure.message}\n${stack}` : failure.message)
    return failure.exitCode
  }
}

async function dispatch(args: readonly string[], world: CliContext): Promise<number> {
  const [first, ...rest] = args
  if (first === '--help' || first === '-h') return help([], world)
  if (first === 'help') return help(rest, world)
  if (first === '--version') return runCommand(await findCommand('version'), rest, world)
  if (first === undefined || first.startsWith('-')) return runCommand(await findCommand('serve'), args, world)
  return runCommand(await findCommand(first), rest, world)
}

async function help([name]: readonly string[], world: CliContext): Promise<number> {
  world.out(name === undefined || name.startsWith('-') ? overview() : (await findCommand(name)).usage)
  return 0
}

async function runCommand(command: Command, args: readonly string[], world: CliContext): Promise<number> {
  if (!asksForHelp(args)) return command.run(args, world)
  world.out(command.usage)
  return 0
}

function asksForHelp(args: readonly string[]): boolean {
  const flags = flagsOf(args)
  return flags.includes('--help') || flags.includes('-h')
}

/** Behind `--` there are no flags. */
function flagsOf(args: readonly string[]): readonly string[] {
  const end = args.indexOf('--')
  return end < 0 ? args : args.slice(0, end)
}
