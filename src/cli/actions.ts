import { nearMatch } from '../lib/near-match.ts'
import { UsageError, type CliContext } from './args.ts'

/** A command below a command, such as `create` of `weir keys create`. */
export type Action = (args: readonly string[], world: CliContext) => Promise<number>

/** Runs the action that the first argument names. */
export async function runAction(
  command: string,
  actions: Readonly<Record<string, Action>>,
  [name, ...rest]: readonly string[],
  world: CliContext,
): Promise<number> {
  const names = Object.keys(actions)
  if (name === undefined || name.startsWith('-'))
    throw new UsageError(`weir ${command} needs one of: ${names.join(', ')}. See weir ${command} --help.`)
  const action = Object.hasOwn(actions, name) ? actions[name] : undefined
  if (action !== undefined) return action(rest, world)
  const near = nearMatch(name, names)
  const guess = near === undefined ? `It takes: ${names.join(', ')}.` : `Did you mean ${near}?`
  throw new UsageError(`There is no weir ${command} ${name}. ${guess} See weir ${command} --help.`)
}
