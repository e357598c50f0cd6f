import { SettingsError } from '../config/problem.ts'
import { ApiError } from '../lib/errors.ts'
import { causeOf } from '../lib/log.ts'
import { type Command, CommandError, UsageError, type World } from './command.ts'
import { findCommand } from './commands.ts'
import { overview } from './help.ts'

/** Runs the command that the arguments name and gives the exit code: 0 done, 1 failed, 2 wrong usage. */
export async function run(args: readonly string[], world: World): Promise<number> {
  try {
    return await dispatch(args, world)
  } catch (error) {
    world.err(sentenceOf(error))
    if (world.environment.WEIR_DEBUG && error instanceof Error) world.err(error.stack ?? '')
    return exitCodeOf(error)
  }
}

async function dispatch(args: readonly string[], world: World): Promise<number> {
  const [first, ...rest] = args
  if (first === '--help' || first === '-h') return help([], world)
  if (first === 'help') return help(rest, world)
  if (first === '--version') return runCommand(await findCommand('version'), rest, world)
  if (first === undefined || first.startsWith('-')) return runCommand(await findCommand('serve'), args, world)
  return runCommand(await findCommand(first), rest, world)
}

async function help([name]: readonly string[], world: World): Promise<number> {
  world.out(name === undefined || name.startsWith('-') ? overview() : (await findCommand(name)).usage)
  return 0
}

async function runCommand(command: Command, args: readonly string[], world: World): Promise<number> {
  if (!asksForHelp(args)) return command.run(args, world)
  world.out(command.usage)
  return 0
}

/** Behind `--` there are no flags. */
function asksForHelp(args: readonly string[]): boolean {
  const end = args.indexOf('--')
  const flags = end < 0 ? args : args.slice(0, end)
  return flags.includes('--help') || flags.includes('-h')
}

/** What was foreseen speaks for itself; anything else is named, and says how to learn more. */
function sentenceOf(error: unknown): string {
  if (foreseen(error)) return error.message
  return `Something unforeseen went wrong (${oneLine(causeOf(error))}). WEIR_DEBUG=1 shows where.`
}

function foreseen(error: unknown): error is Error {
  if (error instanceof UsageError || error instanceof CommandError) return true
  if (error instanceof SettingsError || error instanceof ApiError) return true
  // Our own parts throw a plain Error with a sentence; the platform throws its own classes.
  return error instanceof Error && error.name === 'Error' && !('code' in error)
}

function exitCodeOf(error: unknown): number {
  if (error instanceof UsageError) return 2
  const ofFlag = error instanceof SettingsError && error.problems.some(({ path }) => path.startsWith('--'))
  return ofFlag ? 2 : 1
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim()
}
