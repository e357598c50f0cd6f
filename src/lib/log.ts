/** Where the server says what happened: one JSON object a line, never a key, never a prompt. */
export type Log = {
  info(message: string, fields?: LogFields): void
  warn(message: string, fields?: LogFields): void
  error(message: string, fields?: LogFields): void
}

export type LogFields = Readonly<Record<string, string | number | boolean | null | undefined>>

type Write = (line: string) => void

/** A log on standard error, so that standard output stays for answers of commands. */
export function createLog(write: Write = (line) => void process.stderr.write(line)): Log {
  const at = (level: string) => (message: string, fields?: LogFields) =>
    write(`${JSON.stringify({ time: new Date().toISOString(), level, message, ...fields })}\n`)
  return { info: at('info'), warn: at('warn'), error: at('error') }
}

/** What may be told of an unknown error: its name and message, without the values it may carry. */
export function causeOf(error: unknown): string {
  // The message of the parser quotes the text.
  if (error instanceof SyntaxError && error.message.startsWith('JSON')) return `${error.name}: invalid JSON`
  return error instanceof Error ? `${error.name}: ${error.message}` : String(error)
}
