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

/** Returns the name and message of an unknown error, without values that it may contain. */
export function causeOf(error: unknown): string {
  // The message of the JSON parser quotes the text.
  if (error instanceof SyntaxError && error.message.startsWith('JSON')) return `${error.name}: invalid JSON`
  return error instanceof Error ? `${error.name}: ${error.message}` : String(error)
}
