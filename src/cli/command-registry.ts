import { nearMatch } from '../lib/near-match.ts'
import { commonFlagsHelp } from './args.ts'
import type { Command } from './command.ts'
import { UsageError } from './errors.ts'

/** A command by name, and how to load it: help must not wait for the code of a server. */
export type CommandEntry = {
  readonly name: string
  readonly summary: string
  load(): Promise<Command>
}

/** Every command, in the order in which help lists them. */
export const commands: readonly CommandEntry[] = [
  {
    name: 'serve',
    summary: 'serve the gateway; what weir does without a command',
    load: async () => (await import('./commands/serve.ts')).serve,
  },
  {
    name: 'check',
    summary: 'say what is wrong with the settings, and which providers have keys',
    load: async () => (await import('./commands/check.ts')).check,
  },
  {
    name: 'orgs',
    summary: 'organizations: their balances, billing and limits',
    load: async () => (await import('./commands/orgs.ts')).orgs,
  },
  {
    name: 'keys',
    summary: 'create, list, revoke and rotate API keys',
    load: async () => (await import('./commands/keys.ts')).keys,
  },
  {
    name: 'models',
    summary: 'list the enabled models, with prices and routes',
    load: async () => (await import('./commands/models.ts')).models,
  },
  {
    name: 'usage',
    summary: 'what requests took: tokens and costs by model, key, tag and more',
    load: async () => (await import('./commands/usage.ts')).usage,
  },
  {
    name: 'bench',
    summary: 'measure what a gateway adds to a call, on this machine',
    load: async () => (await import('./commands/bench.ts')).bench,
  },
  {
    name: 'backup',
    summary: 'copy the database, also while a server uses it',
    load: async () => (await import('./commands/backup.ts')).backup,
  },
  {
    name: 'version',
    summary: 'print the version',
    load: async () => (await import('./commands/version.ts')).version,
  },
]

/** The command of that name; a mistyped one is wrong usage. */
export async function findCommand(name: string): Promise<Command> {
  const entry = commands.find((entry) => entry.name === name)
  if (entry !== undefined) return entry.load()
  const near = nearMatch(
    name,
    commands.map(({ name }) => name),
  )
  const guess = near === undefined ? '' : ` Did you mean ${near}?`
  throw new UsageError(`There is no command “${name}”.${guess} See weir --help.`)
}

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
