import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'

/** A request as a gateway receives it. */
export type ReceivedRequest = { readonly path: string; readonly body: unknown }

/** Runs the code of a request, which goes to a server that records it, instead of to `origin`. */
export async function runSnippet(id: string, code: string, origin: string): Promise<ReceivedRequest> {
  const received: ReceivedRequest[] = []
  using server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    async fetch(request) {
      received.push({ path: new URL(request.url).pathname, body: await request.json() })
      return new Response('data: [DONE]\n\n', { headers: { 'content-type': 'text/event-stream' } })
    },
  })
  const folder = await mkdtemp(join(tmpdir(), 'weir-snippet-'))
  try {
    const command = commands[id]
    if (command === undefined) throw new Error(`There is no command for ${id}.`)
    const moved = code.replaceAll(origin, `http://127.0.0.1:${server.port}`)
    const output = await run(await command(moved, folder), folder)
    const [first] = received
    if (first === undefined) throw new Error(`The code has sent no request: ${output}`)
    return first
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** Runs a command to its end, and returns what it has written. The SDKs need not understand the reply. */
async function run(command: readonly string[], folder: string): Promise<string> {
  const child = Bun.spawn([...command], {
    // The SDKs are resolved from here.
    cwd: resolve(import.meta.dir, '../../..'),
    env: { PATH: process.env.PATH, WEIR_API_KEY: 'a-key', PYTHONPATH: folder },
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [output, errors] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ])
  return `${output}${errors}`
}

type Command = (code: string, folder: string) => Promise<readonly string[]>

const runBun: Command = async (code) => [process.execPath, '-e', code]

const commands: Readonly<Record<string, Command>> = {
  async curl(code, folder) {
    await Bun.write(join(folder, 'code.sh'), code)
    return ['sh', join(folder, 'code.sh')]
  },
  async python(code, folder) {
    await Bun.write(join(folder, 'openai.py'), pythonSdk)
    await Bun.write(join(folder, 'code.py'), code)
    return ['python3', join(folder, 'code.py')]
  },
  typescript: runBun,
  'ai-sdk': runBun,
}

/** Sends the arguments of `create` as JSON, like OpenAI's SDK for Python, which this machine need not have. */
const pythonSdk = `
import json, urllib.request

class Resource:
    def __init__(self, url, key):
        self.url, self.key = url, key

    def __getattr__(self, name):
        return Resource(f"{self.url}/{name}", self.key)

    def create(self, **body):
        headers = {"Content-Type": "application/json", "Authorization": f"Bearer {self.key}"}
        request = urllib.request.Request(self.url, json.dumps(body).encode(), headers)
        urllib.request.urlopen(request).read()
        return []

def OpenAI(base_url, api_key):
    return Resource(base_url, api_key)
`

/** The programs that run the code. */
const programs: Readonly<Record<string, string>> = { curl: 'curl', python: 'python3' }

/** Whether this machine can run the code of a language. */
export function canRun(id: string): boolean {
  const program = programs[id]
  return program === undefined || Bun.which(program) !== null
}
