import { platformFailure } from './platform-failure.ts'

/** The log of the server. It never contains API keys or prompts. */
export type Log = {
  info(message: string, fields?: LogFields): void
  warn(message: string, fields?: LogFields): void
  error(message: string, fields?: LogFields): void
}

/** The fields of a log line beside time, level and message. */
export type LogFields = Readonly<Record<string, string | number | boolean | null | undefined>>

type Write = (line: string) => void

/** Creates a log of JSON lines, on standard error by default: standard output is for the output of commands. */
export function createLog(write: Write = (line) => void process.stderr.write(line)): Log {
  const at = (level: string) => (message: string, fields?: LogFields) =>
    write(`${JSON.stringify({ time: new Date().toISOString(), level, message, ...fields })}\n`)
  return { info: at('info'), warn: at('warn'), error: at('error') }
}

/** For what reports its failures itself, or has none. */
export const silentLog: Log = createLog(() => {})

/** Returns the cause of a failure: that of the platform in our words, else the name and the message of the error. */
export function causeOf(error: unknown): string {
  // The message of the JSON parser quotes the text.
  if (error instanceof SyntaxError && error.message.startsWith('JSON')) return `${error.name}: invalid JSON`
  const failure = platformFailure(error)
  if (failure !== undefined) return `${failure}${pathOf(error)}`
  return error instanceof Error ? `${error.name}: ${error.message}` : String(error)
}

/** The file of an error of the system, after a colon. That of `fetch` is a URL, which may contain a secret. */
function pathOf(error: unknown): string {
  const path = error instanceof Error && 'path' in error ? error.path : undefined
  return typeof path === 'string' && !path.includes('://') ? `: ${path}` : ''
}
