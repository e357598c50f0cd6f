import { nearMatch } from '../lib/near-match.ts'
import type { CliContext } from './context.ts'
import { UsageError } from './errors.ts'

/** A command of the `weir` program. */
export type Command = {
  readonly name: string
  /** One line for the list of commands. */
  readonly summary: string
  /** The help text: usage, flags and examples. */
  readonly usage: string
  /** Returns the exit code: 0, or 1 on failure. Throws `UsageError` for wrong usage. */
  run(args: readonly string[], context: CliContext): Promise<number>
}

/** A subcommand, such as `create` of `weir keys create`. */
export type Subcommand = (args: readonly string[], context: CliContext) => Promise<number>

/** Runs the subcommand that the first argument names; throws `UsageError` if there is none. */
export async function runSubcommand(
  command: string,
  subcommands: Readonly<Record<string, Subcommand>>,
  [name, ...rest]: readonly string[],
  context: CliContext,
): Promise<number> {
  const names = Object.keys(subcommands)
  if (name === undefined || name.startsWith('-'))
    throw new UsageError(
      `Missing subcommand for weir ${command}. Available: ${names.join(', ')}. For help, run: weir ${command} --help`,
    )
  const subcommand = Object.hasOwn(subcommands, name) ? subcommands[name] : undefined
  if (subcommand !== undefined) return subcommand(rest, context)
  const near = nearMatch(name, names)
  const guess = near === undefined ? `Available: ${names.join(', ')}.` : `Did you mean ${near}?`
  throw new UsageError(
    `Unknown subcommand “${name}” for weir ${command}. ${guess} For help, run: weir ${command} --help`,
  )
}
