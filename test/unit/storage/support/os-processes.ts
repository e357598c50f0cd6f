import { fileURLToPath } from 'node:url'

const program = fileURLToPath(new URL('report-os-process.ts', import.meta.url))

/** A process of the operating system that runs until it is killed. */
export type StartedProcess = AsyncDisposable & {
  /** What its `ownOsProcess` returns. */
  readonly osProcess: string
  kill(): Promise<void>
}

/** Starts a process that reports its own identity. */
export async function startOsProcess(): Promise<StartedProcess> {
  const child = Bun.spawn([process.execPath, program], { stdin: 'pipe', stdout: 'pipe' })
  const reader = child.stdout.getReader()
  const { value } = await reader.read()
  const kill = async () => {
    child.kill('SIGKILL')
    await child.exited
  }
  return { osProcess: new TextDecoder().decode(value), kill, [Symbol.asyncDispose]: kill }
}

/** The identity of a process that was killed. */
export async function endedOsProcess(): Promise<string> {
  await using started = await startOsProcess()
  return started.osProcess
}
