import { commonFlagsHelp } from './args.ts'
import { commands } from './commands/commands.ts'

/** What `weir --help` prints. */
export function overview(): string {
  const width = Math.max(...commands.map(({ name }) => name.length))
  const list = commands.map(({ name, summary }) => `  ${name.padEnd(width)}  ${summary}`)
  return [introduction, 'Commands', ...list, '', commonFlagsHelp, '', closing].join('\n')
}

const introduction = `Weir: an inference gateway in one file.

Usage
  weir [command] [flags]         without a command: serve

Examples
  weir                           serve on 127.0.0.1:9347
  weir --port 8080               serve on another port
  weir check                     are the settings sound?
`

const closing = `“weir COMMAND --help” tells more of a command.
Exit codes: 0 done, 1 failed, 2 wrong usage. With --json the error is {"error": {"message", "code"}}.`
