import { homedir } from 'node:os'
import type { Terminal, CliContext } from './args.ts'
import { supportsColor } from './color-support.ts'

/** The machine as this process sees it. */
export function processContext(): CliContext {
  const unread = new AbortController()
  const { stdout, stderr } = process
  return {
    environment: process.env,
    cwd: process.cwd(),
    home: homedir(),
    out: lineWriter(stdout, () => unread.abort()),
    err: lineWriter(stderr, () => {}),
    ...(stdout.isTTY && { terminal: terminalOf(stdout) }),
    ...(stderr.isTTY && { errTerminal: terminalOf(stderr) }),
    unread: unread.signal,
  }
}

function lineWriter(stream: NodeJS.WriteStream, closed: () => void): (text: string) => void {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    // A reader that has seen enough, such as `head`, is no failure.
    if (error.code !== 'EPIPE') throw error
    closed()
  })
  return (text) => void stream.write(`${text}\n`)
}

function terminalOf(stream: NodeJS.WriteStream): Terminal {
  return {
    // A terminal that does not know its size says 0.
    size: () => ({ columns: stream.columns || 80, rows: stream.rows || 24 }),
    color: supportsColor(process.env),
    write: (text) => void stream.write(text),
  }
}
