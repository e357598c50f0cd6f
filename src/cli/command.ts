import { parseArgs } from 'node:util'
import { nearMatch, suggestion } from '../lib/near-match.ts'
import { loggable } from '../lib/text.ts'
import type { CliContext } from './context.ts'
import { UsageError } from './errors.ts'
import { jsonText } from './output.ts'

/** A command of the `weir` program. */
export type Command = {
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
    throw new UsageError(`Missing subcommand for weir ${command}. Available: ${names.join(', ')}.`, command)
  const subcommand = Object.hasOwn(subcommands, name) ? subcommands[name] : undefined
  if (subcommand !== undefined) return subcommand(rest, context)
  const guess = suggestion(name, names, `Available: ${names.join(', ')}.`)
  throw new UsageError(`Unknown subcommand “${loggable(name)}” for weir ${command}. ${guess}`, command)
}

/**
 * The flags of a command: `text` takes a value, `switch` takes none, and `list` takes values that are separated by commas,
 * also repeatedly.
 */
export type Flags = Readonly<Record<string, 'text' | 'switch' | 'list'>>

/** The values of the flags; a flag that is not set is absent. */
export type FlagValues<Known extends Flags> = {
  readonly [Name in keyof Known]?: Known[Name] extends 'switch' ? boolean : string
}

/** The flags and operands of a command. */
export type Signature<Own extends Flags, Operands extends readonly string[]> = {
  /** The flags in addition to the common ones. */
  readonly flags?: Own
  /** The names of the operands in order; one that ends with `?` is optional. */
  readonly operands?: Operands
}

/** A call of a command, with the flags and operands that were passed. */
export type Call<Own extends Flags = Record<never, never>, Operands extends readonly string[] = []> = {
  readonly flags: FlagValues<Own> & FlagValues<typeof commonFlags>
  readonly operands: {
    readonly [Index in keyof Operands]: Operands[Index] extends `${string}?` ? string | undefined : string
  }
  readonly context: CliContext
  /** Prints the result: as JSON with `--json`, else as text. */
  print(json: object, text: string): void
}

/** Makes a command, such as `keys create`, which parses its arguments and ends with 0 unless `run` returns another exit code. */
export function subcommand<
  const Own extends Flags = Record<never, never>,
  const Operands extends readonly string[] = [],
>(
  command: string,
  signature: Signature<Own, Operands>,
  run: (call: Call<Own, Operands>) => void | number | Promise<void | number>,
): Subcommand {
  return async (args, context) => {
    const parsed = parseFlags(args, { ...signature, command })
    const print = (json: object, text: string) => context.out(parsed.flags.json ? jsonText(json) : text)
    return (await run({ ...parsed, context, print })) ?? 0
  }
}

const commonFlags = { config: 'text', data: 'text', json: 'switch', help: 'switch' } as const

/** The end of each help text: the flags that every command has. */
export const commonFlagsHelp = `Global flags
  --config FILE  the settings file; default: WEIR_CONFIG, ./weir.yaml, ~/.config/weir/weir.yaml
  --data DIR     the data folder; default: WEIR_DATA, ~/.local/share/weir
  --json         print JSON; errors are {"error": {"message", "code"}} on standard error
  --help         print this help; short form: -h

Exit codes
  0 success, 1 failure, 2 wrong usage`

/**
 * Parses the arguments of a command, which is named as after `weir`; throws `UsageError` with a hint if one is unknown,
 * missing or malformed.
 */
export function parseFlags<
  const Own extends Flags = Record<never, never>,
  const Operands extends readonly string[] = [],
>(
  args: readonly string[],
  { command, flags: own, operands: names }: Signature<Own, Operands> & { readonly command: string },
): Pick<Call<Own, Operands>, 'flags' | 'operands'> {
  const flagTypes: Flags = { ...own, ...commonFlags }
  const { tokens } = parseArgs({
    args: args.map((arg) => (isNegativeNumber(arg) ? `${negativeNumberMark}${arg}` : arg)),
    options: parserOptions(flagTypes),
    allowPositionals: true,
    strict: false,
    tokens: true,
  })
  const flags: Record<string, string | boolean> = {}
  const operands: string[] = []
  for (const token of tokens) {
    if (token.kind === 'positional') operands.push(unmark(token.value))
    if (token.kind !== 'option') continue
    const value = flagValue(token, flagTypes, command)
    const earlier = flagTypes[token.name] === 'list' ? flags[token.name] : undefined
    flags[token.name] = earlier === undefined ? value : `${earlier},${value}`
  }
  assertOperands(operands, names ?? [], command)
  // The values come from the same tables as the types.
  return { flags, operands } as unknown as Pick<Call<Own, Operands>, 'flags' | 'operands'>
}

/** True for a negative number, which is a value although it starts like a flag. */
function isNegativeNumber(arg: string): boolean {
  return /^-\.?\d/.test(arg)
}

/** Prefixed to a negative number, so that the parser treats it as a value. */
const negativeNumberMark = '\u0000'

function unmark(value: string): string {
  return value.startsWith(negativeNumberMark) ? value.slice(negativeNumberMark.length) : value
}

type OptionToken = {
  readonly name: string
  readonly rawName: string
  readonly value?: string
  readonly inlineValue?: boolean
}

function parserOptions(flagTypes: Flags) {
  const options: Record<string, { type: 'string' | 'boolean'; short?: string }> = {}
  for (const [name, type] of Object.entries(flagTypes))
    options[name] = { type: type === 'switch' ? 'boolean' : 'string', ...(name === 'help' && { short: 'h' }) }
  return options
}

function flagValue(token: OptionToken, flagTypes: Flags, command: string): string | boolean {
  const type = Object.hasOwn(flagTypes, token.name) ? flagTypes[token.name] : undefined
  if (type === undefined) throw new UsageError(unknownFlagMessage(token, flagTypes), command)
  if (type === 'switch') {
    if (token.inlineValue !== true) return true
    throw new UsageError(`The flag ${token.rawName} does not take a value.`, command)
  }
  const swallowed = token.inlineValue !== true && token.value?.startsWith('-') === true
  if (token.value === undefined || token.value === '' || swallowed)
    throw new UsageError(`The flag ${token.rawName} requires a value.`, command)
  return unmark(token.value)
}

function unknownFlagMessage(token: OptionToken, flagTypes: Flags): string {
  const near = nearMatch(token.name, Object.keys(flagTypes))
  const guess = near === undefined ? '' : ` Did you mean --${near}?`
  return `Unknown flag ${token.rawName}.${guess}`
}

function assertOperands(given: readonly string[], names: readonly string[], command: string): void {
  const extra = given[names.length]
  if (extra !== undefined)
    throw new UsageError(`Unexpected argument “${loggable(extra)}” for weir ${command}.`, command)
  const missing = names.slice(given.length).find((name) => !name.endsWith('?'))
  if (missing !== undefined) throw new UsageError(`Missing argument ${missing} for weir ${command}.`, command)
}
