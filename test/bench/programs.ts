/** A program that serves on a port that it was given. */
export type Program = { readonly pid: number; stop(): Promise<void> }

export type ProgramOptions = {
  readonly cwd: string
  readonly environment?: Readonly<Record<string, string>>
  /** Where it is looked for to see whether it serves; any status will do. */
  readonly url: string
}

/** Milliseconds until a program serves. */
const deadline = 20_000

/** Starts a program and waits until it responds. */
export async function startProgram(command: readonly string[], options: ProgramOptions): Promise<Program> {
  const { cwd, environment, url } = options
  const log = Bun.file(`${cwd}/program.log`)
  const child = Bun.spawn([...command], {
    cwd,
    env: { PATH: process.env.PATH, HOME: cwd, ...environment },
    stdio: ['ignore', log, log],
  })
  const stop = async () => {
    child.kill('SIGKILL')
    await child.exited
  }
  const end = performance.now() + deadline
  while (performance.now() < end && child.exitCode === null) {
    if (await fetch(url, { signal: AbortSignal.timeout(1000) }).catch(() => null))
      return { pid: child.pid, stop }
    await Bun.sleep(20)
  }
  await stop()
  throw new Error(`${command[0]} does not serve. It said:\n${await log.text()}`)
}

/** Runs a program to its end and returns its standard output. */
export async function outputOf(
  command: readonly string[],
  cwd: string,
  environment: Readonly<Record<string, string>> = {},
): Promise<string> {
  const child = Bun.spawn([...command], {
    cwd,
    env: { PATH: process.env.PATH, HOME: cwd, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const [out, complaint, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited])
  if (code !== 0) throw new Error(`${command.join(' ')} ended with ${code}: ${complaint || out}`)
  return out
}
