/** What a program has printed, and how it ended. */
export type ProgramResult = {
  readonly code: number
  readonly out: string
  readonly err: string
  readonly durationMs: number
}

export type ProgramOptions = {
  readonly cwd: string
  /** All that it has. */
  readonly environment: Readonly<Record<string, string>>
  /** Milliseconds after which it is killed, and the run rejects. */
  readonly timeoutMs: number
}

/** Runs a program to its end. It gets a process group of its own, so that its children end with it. */
export async function runProgram(
  command: readonly string[],
  { cwd, environment, timeoutMs }: ProgramOptions,
): Promise<ProgramResult> {
  const started = performance.now()
  const child = Bun.spawn([...command], {
    cwd,
    env: environment,
    detached: true,
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  })
  let late = false
  const timer = setTimeout(() => {
    late = true
    killGroup(child.pid)
  }, timeoutMs)
  try {
    const [out, err, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited])
    if (late) throw new Error(`${command[0]} did not end within ${timeoutMs} ms.\n${out}\n${err}`)
    return { code, out, err, durationMs: performance.now() - started }
  } finally {
    clearTimeout(timer)
    killGroup(child.pid)
  }
}

/** What is left of the group: nothing, if all of it has ended. */
function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL')
  } catch {
    // The group has ended.
  }
}
