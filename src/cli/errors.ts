import { SettingsError } from '../config/problem.ts'
import { ApiError } from '../lib/errors/errors.ts'
import { causeOf } from '../lib/log.ts'

/** Wrong usage of a command; the message says how to call it, and how to get the help of this command. Exit code 2. */
export class UsageError extends Error {
  constructor(message: string, command?: string) {
    super(command === undefined ? message : `${message} For help, run: weir ${command.split(' ')[0]} --help`)
    this.name = 'UsageError'
  }
}

/** A command failed for a known reason; the message is printed on standard error. Exit code 1. */
export class CommandError extends Error {
  /** Further fields of the error with `--json`. */
  readonly details: Readonly<Record<string, unknown>> | undefined

  constructor(message: string, details?: Readonly<Record<string, unknown>>) {
    super(message)
    this.name = 'CommandError'
    this.details = details
  }
}

/** An error as it is printed on standard error. */
export type Failure = {
  readonly message: string
  /** For programs, as in `--json`. */
  readonly code: string
  readonly details?: CommandError['details']
  readonly exitCode: number
}

/** Converts an error: an expected one keeps its message, any other gets a general one with its cause. */
export function toFailure(error: unknown): Failure {
  const exitCode = exitCodeOf(error)
  const details = error instanceof CommandError ? error.details : undefined
  if (isExpected(error)) return { message: error.message, code: codeOf(error), details, exitCode }
  const message = `Unexpected error: ${oneLine(causeOf(error))}. To see the stack trace, set WEIR_DEBUG=1.`
  return { message, code: 'internal_error', exitCode }
}

/** Returns the failure as `--json` prints it, in one line. */
export function failureJson({ message, code, details }: Omit<Failure, 'exitCode'>, stack?: string): string {
  return JSON.stringify({ error: { message, code, ...details, stack } })
}

function isExpected(error: unknown): error is Error {
  if (error instanceof UsageError || error instanceof CommandError) return true
  if (error instanceof SettingsError || error instanceof ApiError) return true
  // Our modules throw a plain Error with a sentence; the platform throws subclasses, or errors with a code.
  return error instanceof Error && error.name === 'Error' && !('code' in error)
}

function codeOf(error: Error): string {
  if (error instanceof UsageError) return 'wrong_usage'
  if (error instanceof SettingsError) return 'invalid_settings'
  return error instanceof ApiError ? (error.code ?? error.type) : 'failed'
}

function exitCodeOf(error: unknown): number {
  if (error instanceof UsageError) return 2
  const isFlagError =
    error instanceof SettingsError && error.problems.some(({ path }) => path.startsWith('--'))
  return isFlagError ? 2 : 1
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim()
}
