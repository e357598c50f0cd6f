import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { withDeadline } from './with-deadline.ts'

/** Where and how the commands run. */
export type ShellOptions = {
  /** The folder for the scripts and their output. */
  readonly folder: string
  readonly cwd: string
  readonly environment: Readonly<Record<string, string>>
}

/** How a script ended. `failedLine` is the line of the command that failed, counted from 1. */
export type ShellResult = { readonly output: string; readonly failedLine?: number; readonly reason?: string }

// The status goes to descriptor 3, because a script may leave a process in the background that holds descriptor 1.
const prologue = [
  'exec 3>&1',
  'set -Eeo pipefail',
  "trap 'failed=$LINENO' ERR",
  `trap 'printf "%s %s\\n" "\${failed:-0}" "$?" >&3' EXIT`,
  '',
].join('\n')

/** One bash in which scripts run one after another: variables, folders and background jobs remain. */
export class ShellSession implements AsyncDisposable {
  readonly #options: ShellOptions
  readonly #bash: Bun.Subprocess<'pipe', 'pipe', 'pipe'>
  readonly #statuses: AsyncIterator<string>
  #scripts = 0

  constructor(options: ShellOptions) {
    this.#options = options
    this.#bash = Bun.spawn(['bash', '--noprofile', '--norc'], {
      cwd: options.cwd,
      env: options.environment,
      stdin: 'pipe',
      stdout: 'pipe',
      stderr: 'pipe',
      // A process group of its own, so that what the scripts start ends with it.
      detached: true,
    })
    this.#statuses = linesOf(this.#bash.stdout)
    this.#bash.stdin.write(prologue)
  }

  /** Runs a script and returns what it wrote to standard output and standard error. */
  async run(script: string, deadlineMs: number): Promise<ShellResult> {
    const file = join(this.#options.folder, `block-${++this.#scripts}`)
    await writeFile(`${file}.sh`, `${script}\n`)
    await writeFile(`${file}.txt`, '')
    this.#bash.stdin.write(`. '${file}.sh' > '${file}.txt' 2>&1 < /dev/null; printf 'done\\n' >&3\n`)
    await this.#bash.stdin.flush()
    const status = await withDeadline(this.#statuses.next(), deadlineMs)
    const output = await this.lastOutput()
    if (status === undefined) return { output, failedLine: 1, reason: `it took longer than ${deadlineMs} ms` }
    if (status.value === 'done') return { output }
    const [line, code] = String(status.value).split(' ')
    return { output, failedLine: Math.max(1, Number(line)), reason: `it ended with exit code ${code}` }
  }

  /** Returns what the last script has written until now, also what it left in the background. */
  lastOutput(): Promise<string> {
    return this.#outputOf(this.#scripts)
  }

  /** The same for all scripts. */
  async allOutput(): Promise<string> {
    const numbers = Array.from({ length: this.#scripts }, (_, index) => index + 1)
    return (await Promise.all(numbers.map((number) => this.#outputOf(number)))).join('\n')
  }

  #outputOf(script: number): Promise<string> {
    return readFile(join(this.#options.folder, `block-${script}.txt`), 'utf8')
  }

  async [Symbol.asyncDispose](): Promise<void> {
    try {
      process.kill(-this.#bash.pid, 'SIGKILL')
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error
    }
    await this.#bash.exited
  }
}

async function* linesOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<string, undefined> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const bytes of stream) {
    rest += decoder.decode(bytes, { stream: true })
    const lines = rest.split('\n')
    rest = lines.pop() ?? ''
    yield* lines
  }
}
