import { SettingsError } from '../config/problem.ts'
import { ApiError } from '../lib/errors/errors.ts'
import { causeOf } from '../lib/log.ts'

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

/** What a command says of an error, on standard error. */
export type Failure = {
  readonly message: string
  /** For programs, as in `--json`. */
  readonly code: string
  readonly exitCode: number
}

/** What was foreseen speaks for itself; anything else is named, and says how to learn more. */
export function toFailure(error: unknown): Failure {
  const exitCode = exitCodeOf(error)
  if (isExpected(error)) return { message: error.message, code: codeOf(error), exitCode }
  const message = `Something unforeseen went wrong (${oneLine(causeOf(error))}). WEIR_DEBUG=1 shows where.`
  return { message, code: 'internal_error', exitCode }
}

/** The failure as `--json` prints it, in one line. */
export function failureJson({ message, code }: Pick<Failure, 'message' | 'code'>, stack?: string): string {
  return JSON.stringify({ error: { message, code, stack } })
}

function isExpected(error: unknown): error is Error {
  if (error instanceof UsageError || error instanceof CommandError) return true
  if (error instanceof SettingsError || error instanceof ApiError) return true
  // Our own parts throw a plain Error with a sentence; the platform throws its own classes.
  return error instanceof Error && error.name === 'Error' && !('code' in error)
}

function codeOf(error: Error): string {
  if (error instanceof UsageError) return 'wrong_usage'
  if (error instanceof SettingsError) return 'invalid_settings'
  return error instanceof ApiError ? (error.code ?? error.type) : 'failed'
}

function exitCodeOf(error: unknown): number {
  if (error instanceof UsageError) return 2
  const ofFlag = error instanceof SettingsError && error.problems.some(({ path }) => path.startsWith('--'))
  return ofFlag ? 2 : 1
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim()
}
