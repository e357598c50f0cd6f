import type { CliContext } from './args.ts'

/** Bun reads it once, before any code runs; without it, the 257th upstream call waits for one of the 256 to end. */
const variable = 'BUN_CONFIG_MAX_HTTP_REQUESTS'
const mostRequests = '65535'

/**
 * Starts this program anew with room for many upstream calls at once, in place of this process. Returns where
 * that is done already, and with the exit code of a child where a process cannot be replaced (Windows).
 */
export async function liftRequestLimit({ environment }: CliContext): Promise<number | undefined> {
  if (environment[variable] !== undefined) return undefined
  const environmentAfter = { ...environment, [variable]: mostRequests }
  const command = ownCommand()
  if (process.platform !== 'win32' && process.execve) {
    process.execve(process.execPath, command, definedOnly(environmentAfter))
  }
  return runChild(command, environmentAfter)
}

function ownCommand(): string[] {
  return [...ownProgram(), ...process.argv.slice(2)]
}

/** How this program is called, without arguments: a compiled one is its own file, any other a script. */
export function ownProgram(): string[] {
  const [, script = ''] = process.argv
  return isCompiled() ? [process.execPath] : [process.execPath, ...process.execArgv, script]
}

/** Whether this program is one executable, and no script that Bun runs. */
export function isCompiled(): boolean {
  return Bun.main.startsWith('/$bunfs/') || /^[A-Z]:[\\/]~BUN/.test(Bun.main)
}

function definedOnly(environment: Readonly<Record<string, string | undefined>>): Record<string, string> {
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
