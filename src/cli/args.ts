import { parseArgs } from 'node:util'
import { nearMatch } from '../lib/near-match.ts'

/** A command of the `weir` program. */
export type Command = {
  readonly name: string
  /** One line for the list of commands. */
  readonly summary: string
  /** The whole help text: how it is called, examples, flags. */
  readonly usage: string
  /** Does the work and gives the exit code: 0, or 1 where it failed. Wrong usage throws `UsageError`. */
  run(args: readonly string[], world: CliContext): Promise<number>
}

/** What a command sees of the machine it runs on. */
export type CliContext = {
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly cwd: string
  readonly home: string
  /** Writes a line to standard output: the answer. */
  out(text: string): void
  /** Writes a line to standard error: what went wrong, what to do. */
  err(text: string): void
  /** Ends a command that runs until it is told to stop. */
  readonly signal?: AbortSignal
  /** The terminal that standard output is; absent where it is a file or a pipe. */
  readonly terminal?: Terminal
  /** The terminal that standard error is; absent where it is a file or a pipe. */
  readonly errTerminal?: Terminal
  /** Aborted once nobody reads standard output any more. */
  readonly unread?: AbortSignal
}

/** A screen that a person looks at. */
export type Terminal = {
  /** Characters in a line and lines on the screen, at the moment. */
  size(): { readonly columns: number; readonly rows: number }
  readonly color: boolean
  /** Writes text as it is, with escape sequences and without a line break. */
  write(text: string): void
}

/** A command was called in a way that it does not know; the message says how to call it. Exit code 2. */
export class UsageError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'UsageError'
  }
}

/** A command could not do its work; the message is the sentence for standard error. Exit code 1. */
export class CommandError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'CommandError'
  }
}

/** The flags of a command: `text` takes a value, `switch` takes none. */
export type Flags = Readonly<Record<string, 'text' | 'switch'>>

export type FlagValues<Known extends Flags> = {
  readonly [Name in keyof Known]?: Known[Name] extends 'switch' ? boolean : string
}

/** What a command takes. */
export type Signature<Own extends Flags> = {
  /** As it is typed after `weir`: `keys create`. */
  readonly command: string
  /** Its own flags; those of every command are added. */
  readonly flags: Own
  /** The names of its arguments in order; one that ends with `?` may be left out. */
  readonly operands?: readonly string[]
}

export type Parsed<Own extends Flags> = {
  readonly flags: FlagValues<Own & typeof commonFlags>
  readonly operands: readonly string[]
}

const commonFlags = { config: 'text', data: 'text', json: 'switch', help: 'switch' } as const

/** The flags that every command takes, for the end of its help text. */
export const commonFlagsHelp = `Flags of every command
  --config FILE  the settings; else WEIR_CONFIG, ./weir.yaml, ~/.config/weir/weir.yaml
  --data DIR     the folder of the database; else WEIR_DATA, ~/.local/share/weir
  --json         answer with JSON, for programs; an error is a line of JSON on standard error
  --help         print this help`

/** Reads the arguments of a command; anything that it does not take is a `UsageError` that says how to mend it. */
export function parseFlags<const Own extends Flags>(
  args: readonly string[],
  signature: Signature<Own>,
): Parsed<Own> {
  const known: Flags = { ...signature.flags, ...commonFlags }
  const { tokens } = parseArgs({
    args: args.map((arg) => (isNegative(arg) ? `${negativeMark}${arg}` : arg)),
    options: optionsOf(known),
    allowPositionals: true,
    strict: false,
    tokens: true,
  })
  const flags: Record<string, string | boolean> = {}
  const operands: string[] = []
  for (const token of tokens) {
    if (token.kind === 'positional') operands.push(unmarked(token.value))
    if (token.kind === 'option') flags[token.name] = valueOf(token, known, signature.command)
  }
  checkOperands(operands, signature)
  // Built from the table of flags that the type is made of.
  return { flags: flags as FlagValues<Own & typeof commonFlags>, operands }
}

/** Whether it is a negative number: a value, though it begins like a flag. */
function isNegative(arg: string): boolean {
  return /^-\.?\d/.test(arg)
}

/** In front of a negative number, the parser takes it for a value. */
const negativeMark = '\u0000'

function unmarked(value: string): string {
  return value.startsWith(negativeMark) ? value.slice(negativeMark.length) : value
}

type OptionToken = {
  readonly name: string
  readonly rawName: string
  readonly value?: string
  readonly inlineValue?: boolean
}

function optionsOf(known: Flags) {
  const options: Record<string, { type: 'string' | 'boolean'; short?: string }> = {}
  for (const [name, type] of Object.entries(known))
    options[name] = { type: type === 'text' ? 'string' : 'boolean', ...(name === 'help' && { short: 'h' }) }
  return options
}

function valueOf(token: OptionToken, known: Flags, command: string): string | boolean {
  const type = Object.hasOwn(known, token.name) ? known[token.name] : undefined
  if (type === undefined) throw new UsageError(unknownFlag(token, known, command))
  if (type === 'switch') {
    if (token.inlineValue !== true) return true
    throw new UsageError(`${token.rawName} takes no value. ${seeHelp(command)}`)
  }
  const swallowed = token.inlineValue !== true && token.value?.startsWith('-') === true
  if (token.value === undefined || token.value === '' || swallowed)
    throw new UsageError(`${token.rawName} needs a value. ${seeHelp(command)}`)
  return unmarked(token.value)
}

function unknownFlag(token: OptionToken, known: Flags, command: string): string {
  const near = nearMatch(token.name, Object.keys(known))
  const guess = near === undefined ? '' : ` Did you mean --${near}?`
  return `Unknown flag ${token.rawName}.${guess} ${seeHelp(command)}`
}

function checkOperands(operands: readonly string[], signature: Signature<Flags>): void {
  const names = signature.operands ?? []
  const extra = operands[names.length]
  if (extra !== undefined)
    throw new UsageError(
      `weir ${signature.command} does not take the argument “${extra}”. ${seeHelp(signature.command)}`,
    )
  const missing = names.slice(operands.length).find((name) => !name.endsWith('?'))
  if (missing !== undefined)
    throw new UsageError(`weir ${signature.command} needs ${missing}. ${seeHelp(signature.command)}`)
}

function seeHelp(command: string): string {
  return `See weir ${command.split(' ')[0]} --help.`
}
