import { join } from 'node:path'
import { firstKey } from '../../../support/app.ts'
import { weirCommand } from '../../../support/weir-command.ts'

/** `weir serve` in its own process, which is stopped at the end of the scope. */
export type WeirProcess = AsyncDisposable & {
  readonly url: string
  readonly pid: number
  readonly exited: Promise<number>
  /** Resolves when all that it and its workers have written is read: the last of it may arrive after the exit. */
  readonly readToEnd: Promise<unknown>
  signal(name: NodeJS.Signals): void
  /** Resolves once the pattern is in the log; rejects where the process ends before. */
  logged(pattern: RegExp): Promise<void>
  /** All that it has logged. */
  log(): string
  /** Its standard output, with a line for each request. */
  output(): string
  chat(body: object): Promise<Response>
  fetch(path: string): Promise<Response>
}

export type WeirOptions = {
  /** weir.yaml; JSON is YAML. */
  readonly settings: object
  /** The folder of the file and of the data. */
  readonly folder: string
  readonly flags?: readonly string[]
  /** What starts the program, in front of it: `unshare`, `prlimit`. */
  readonly wrapper?: readonly string[]
  /** More variables of its environment. */
  readonly environment?: Readonly<Record<string, string>>
}

/** A process that does not listen by then is killed. */
const startTimeoutMs = 45_000

/** Starts it, and resolves when it listens. */
export async function startWeir({
  settings,
  folder,
  flags = [],
  wrapper = [],
  environment = {},
}: WeirOptions): Promise<WeirProcess> {
  await Bun.write(join(folder, 'weir.yaml'), JSON.stringify(settings))
  const command = [...weirCommand, 'serve', '--port', '0', ...flags]
  const child = Bun.spawn([...wrapper, ...command], {
    cwd: folder,
    env: {
      HOME: folder,
      PATH: process.env.PATH,
      WEIR_DATA: folder,
      WEIR_BOOTSTRAP_KEY: firstKey,
      ...environment,
    },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const output = collect(child.stdout)
  const log = collect(child.stderr)
  const ended = () => new Error(`The program ended. It said: ${log.text()}`)
  const deadline = setTimeout(() => child.kill('SIGKILL'), startTimeoutMs)
  const url = await output.until(/listens on (\S+)\n/, ended).finally(() => clearTimeout(deadline))
  const headers = { authorization: `Bearer ${firstKey}`, 'content-type': 'application/json' }
  return {
    url,
    pid: child.pid,
    exited: child.exited,
    readToEnd: Promise.all([output.ended, log.ended]),
    signal: (name) => child.kill(name),
    logged: async (pattern) => void (await log.until(pattern, ended)),
    log: log.text,
    output: output.text,
    chat: (body) =>
      fetch(`${url}/v1/chat/completions`, { method: 'POST', headers, body: JSON.stringify(body) }),
    fetch: (path) => fetch(url + path, { headers }),
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL')
      await child.exited
    },
  }
}

/** Reads a stream to its end, and provides what was received. */
function collect(stream: ReadableStream<Uint8Array>) {
  let text = ''
  let ended = false
  let wake = () => {}
  const reading = read()

  async function read(): Promise<void> {
    const decoder = new TextDecoder()
    for await (const bytes of stream) {
      text += decoder.decode(bytes, { stream: true })
      wake()
    }
    ended = true
    wake()
  }

  /** The first group of the pattern, or all that it matched. */
  async function until(pattern: RegExp, failure: () => Error): Promise<string> {
    for (;;) {
      const found = pattern.exec(text)
      if (found) return found[1] ?? found[0]
      if (ended) throw failure()
      await new Promise<void>((resolve) => (wake = resolve))
    }
  }

  return { text: () => text, until, ended: reading }
}
