import type { CliContext } from '../context.ts'
import { programCommand } from '../invocation.ts'

/** Bun reads it once, before any code runs; without it, the 257th upstream call waits for one of the 256 to end. */
const variable = 'BUN_CONFIG_MAX_HTTP_REQUESTS'
const maxRequests = '65535'

/**
 * Starts this program anew with room for many upstream calls at once, in place of this process. Returns where
 * that is done already, and with the exit code of a child where a process cannot be replaced (Windows).
 */
export async function raiseRequestLimit({ environment }: CliContext): Promise<number | undefined> {
  if (environment[variable] !== undefined) return undefined
  const environmentWithLimit = { ...environment, [variable]: maxRequests }
  const command = currentCommand()
  if (process.platform !== 'win32' && process.execve) {
    process.execve(process.execPath, command, withoutUndefined(environmentWithLimit))
  }
  return runChild(command, environmentWithLimit)
}

function currentCommand(): string[] {
  return [...programCommand(), ...process.argv.slice(2)]
}

function withoutUndefined(environment: Readonly<Record<string, string | undefined>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(environment).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  )
}

/** Ctrl-C reaches both processes; the child is the one that acts on it. */
async function runChild(
  command: string[],
  env: Readonly<Record<string, string | undefined>>,
): Promise<number> {
  process.on('SIGINT', () => {})
  const child = Bun.spawn(command, { env, stdio: ['inherit', 'inherit', 'inherit'] })
  process.on('SIGTERM', () => child.kill('SIGTERM'))
  return child.exited
}
