import type { CliContext } from '../context.ts'
import { programCommand } from '../invocation.ts'

/** Bun reads it once, before any code runs. Its default of 256 would make the 257th upstream request wait. */
const limitVariable = 'BUN_CONFIG_MAX_HTTP_REQUESTS'
const maxRequests = '65535'

/**
 * Replaces this process by one with a higher limit of concurrent upstream requests. Returns undefined if the limit is
 * already set, and the exit code of a child process where a process cannot be replaced (Windows).
 */
export async function raiseRequestLimit({ environment }: CliContext): Promise<number | undefined> {
  if (environment[limitVariable] !== undefined) return undefined
  const command = [...programCommand(), ...process.argv.slice(2)]
  return replaceProcess(command, { ...environment, [limitVariable]: maxRequests })
}

type Environment = Readonly<Record<string, string | undefined>>

/** Replaces this process by the command of Bun; returns its exit code where that is not possible (Windows). */
export async function replaceProcess(command: string[], environment: Environment): Promise<number> {
  if (process.platform !== 'win32' && process.execve)
    process.execve(process.execPath, command, withoutUndefined(environment))
  return runChild(command, environment)
}

function withoutUndefined(environment: Environment): Record<string, string> {
  return Object.fromEntries(
    Object.entries(environment).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  )
}

/** Ctrl-C reaches both processes; only the child handles it. */
async function runChild(command: string[], env: Environment): Promise<number> {
  process.on('SIGINT', () => {})
  const child = Bun.spawn(command, { env, stdio: ['inherit', 'inherit', 'inherit'] })
  process.on('SIGTERM', () => child.kill('SIGTERM'))
  return child.exited
}
