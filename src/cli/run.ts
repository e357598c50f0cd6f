import { findCommand, overview as helpText } from './command-registry.ts'
import type { Command } from './command.ts'
import type { CliContext } from './context.ts'
import { failureJson, toFailure } from './errors.ts'

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
  context.out(name === undefined || name.startsWith('-') ? helpText() : (await findCommand(name)).usage)
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
