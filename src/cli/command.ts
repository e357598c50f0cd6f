import { nearMatch } from '../lib/near-match.ts'
import type { CliContext } from './context.ts'
import { UsageError } from './errors.ts'

/** A command of the `weir` program. */
export type Command = {
  readonly name: string
  /** One line for the list of commands. */
  readonly summary: string
  /** The whole help text: how it is called, examples, flags. */
  readonly usage: string
  /** Does the work and gives the exit code: 0, or 1 where it failed. Wrong usage throws `UsageError`. */
  run(args: readonly string[], context: CliContext): Promise<number>
}

/** A command below a command, such as `create` of `weir keys create`. */
export type Subcommand = (args: readonly string[], context: CliContext) => Promise<number>

/** Runs the action that the first argument names. */
export async function runSubcommand(
  command: string,
  actions: Readonly<Record<string, Subcommand>>,
  [name, ...rest]: readonly string[],
  context: CliContext,
): Promise<number> {
  const names = Object.keys(actions)
  if (name === undefined || name.startsWith('-'))
    throw new UsageError(`weir ${command} needs one of: ${names.join(', ')}. See weir ${command} --help.`)
  const action = Object.hasOwn(actions, name) ? actions[name] : undefined
  if (action !== undefined) return action(rest, context)
  const near = nearMatch(name, names)
  const guess = near === undefined ? `It takes: ${names.join(', ')}.` : `Did you mean ${near}?`
  throw new UsageError(`There is no weir ${command} ${name}. ${guess} See weir ${command} --help.`)
}
