import { join } from 'node:path'
import { projectFolder } from '../../support/source.ts'
import { weirCommand } from '../../support/weir-command.ts'

/** A program of this test that serves; it is ended with its scope. */
export type Serving = AsyncDisposable & {
  readonly url: string
  readonly pid: number
  /** Stops the program and returns its exit code. */
  stop(): Promise<number>
}

/** Where the log of a program goes; a number is the descriptor of a file. */
export type ErrorOutput = 'inherit' | 'ignore' | number

/** Starts a script of the project and waits until it prints its address. */
export async function startServing(
  script: readonly string[],
  environment: Readonly<Record<string, string>> = {},
  stderr: ErrorOutput = 'inherit',
): Promise<Serving> {
  const child = spawn(script, environment, stderr)
  const stop = () => {
    child.kill('SIGTERM')
    return child.exited
  }
  return { url: await addressIn(child.stdout), pid: child.pid, stop, [Symbol.asyncDispose]: () => end(child) }
}

/** Runs a script of the project to its end and returns its output. */
export async function outputOf(
  script: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<string> {
  const child = spawn(script, environment)
  const [out, code] = await Promise.all([child.stdout.text(), child.exited])
  if (code !== 0) throw new Error(`${script[0]} ended with ${code}.`)
  return out
}

function spawn(
  [file = '', ...args]: readonly string[],
  environment: Readonly<Record<string, string>>,
  stderr: ErrorOutput = 'inherit',
) {
  // The command line may be an executable.
  const program = file === 'src/main.ts' ? weirCommand : [process.execPath, join(projectFolder, file)]
  return Bun.spawn([...program, ...args], {
    cwd: environment.HOME ?? projectFolder,
    env: { HOME: projectFolder, ...environment },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr,
  })
}

async function end(child: Bun.Subprocess): Promise<void> {
  child.kill('SIGKILL')
  await child.exited
}

async function addressIn(output: ReadableStream<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder()
  let outputText = ''
  for await (const bytes of output) {
    outputText += decoder.decode(bytes, { stream: true })
    const [, url] = /listens on (\S+)\n/.exec(outputText) ?? []
    if (url !== undefined) return url
  }
  throw new Error(`The program ended without an address. It said: ${outputText}`)
}
