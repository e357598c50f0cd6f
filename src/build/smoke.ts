import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { randomText } from '../lib/id.ts'
import { bareEnvironment, freePort, type Installation, startServer } from './installation.ts'

/** Tests an executable in an empty folder and environment, including a kill and a restart. */
async function smokeTest(executable: string, folder: string): Promise<void> {
  const emptyFolder = join(folder, 'empty')
  await mkdir(emptyFolder)
  const environment = { ...bareEnvironment(folder), WEIR_DATA: join(folder, 'data') }
  const installation = { executable, folder: emptyFolder, environment }
  await expectHelp(installation)
  await expectVersion(installation)
  await expectLicenses(installation)

  const key = `sk-weir-${randomText(12)}-${randomText(40)}`
  const port = await freePort()
  const withKey = { ...installation, environment: { ...environment, WEIR_BOOTSTRAP_KEY: key } }
  await using server = await startServer(withKey, port)
  await expectHealth(installation, port)
  await expectUnauthorized(server.address)
  await expectChatCompletion(server.address, key)
  await expectStream(server.address, key)
  await expectPage(server.address)
  await server.kill()

  await using restarted = await startServer(installation, port)
  await expectChatCompletion(restarted.address, key)
  await restarted.stop()
}

/** Expects the help to name the commands, and prints how long it took. */
async function expectHelp(installation: Installation): Promise<void> {
  // The first run reads the file from the disk; the second shows the usual delay.
  await output(installation, ['--help'])
  const started = performance.now()
  const help = await output(installation, ['--help'])
  console.log(`weir --help      ${Math.round(performance.now() - started)} ms`)
  for (const command of ['serve', 'check', 'keys', 'models']) {
    if (!help.includes(command)) throw new Error(`weir --help does not name ${command}:\n${help}`)
  }
}

/** Expects `weir version` to print a name and a number. */
async function expectVersion(installation: Installation): Promise<void> {
  const version = await output(installation, ['version'])
  if (!/^weir \d+\.\d+\.\d+/.test(version)) throw new Error(`weir version printed: ${version}`)
  console.log(`weir version     ${version.trim()}`)
}

/** Expects `weir health` to find the server ready. */
async function expectHealth(installation: Installation, port: number): Promise<void> {
  console.log(`weir health      ${(await output(installation, ['health', '--port', String(port)])).trim()}`)
}

/** Expects `weir licenses` to print texts of licences, which are in the executable. */
async function expectLicenses(installation: Installation): Promise<void> {
  const text = await output(installation, ['licenses'])
  if (!text.includes('Permission is hereby granted')) throw new Error(`weir licenses printed: ${text}`)
  console.log(`weir licenses    ${text.length} characters`)
}

async function output({ executable, folder, environment }: Installation, args: string[]): Promise<string> {
  const child = Bun.spawn([executable, ...args], {
    cwd: folder,
    env: environment,
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
    timeout: 10_000,
  })
  const [out, errors] = await Promise.all([child.stdout.text(), child.stderr.text()])
  const code = await child.exited
  if (code !== 0) throw new Error(`weir ${args.join(' ')} ended with ${code}: ${errors || out}`)
  return out
}

const prompt = 'The river is measured at the weir.'
const timeoutMs = 10_000

/** Expects an unknown key to get 401. */
async function expectUnauthorized(address: string): Promise<void> {
  const reply = await requestChat(address, 'sk-weir-000000000000-00000000000000000000000000000000', false)
  if (reply.status !== 401)
    throw new Error(`An unknown key got status ${reply.status}: ${await reply.text()}`)
  console.log('unknown key      401')
}

/** Expects the built-in model to repeat the prompt. */
async function expectChatCompletion(address: string, key: string): Promise<void> {
  const reply = await expectStatus200(await requestChat(address, key, false))
  const content: unknown = JSON.parse(reply)?.choices?.[0]?.message?.content
  if (content !== prompt) throw new Error(`The completion is not the prompt: ${reply}`)
  console.log('chat completion  ok')
}

/** Expects a stream whose chunks add up to the prompt and that ends with [DONE]. */
async function expectStream(address: string, key: string): Promise<void> {
  const reply = await expectStatus200(await requestChat(address, key, true))
  const frames = reply.split('\n\n').filter((frame) => frame.startsWith('data: '))
  const data = frames.map((frame) => frame.slice('data: '.length))
  if (data.pop() !== '[DONE]') throw new Error(`The stream does not end with [DONE]: ${reply}`)
  const content = data.map((chunk) => JSON.parse(chunk).choices[0]?.delta.content ?? '').join('')
  if (content !== prompt) throw new Error(`The stream does not add up to the prompt: ${reply}`)
  console.log(`streamed         ${data.length} chunks`)
}

/** Expects the page for browsers, with its files. */
async function expectPage(address: string): Promise<void> {
  const html = await expectStatus200(await requestFile(`${address}/`))
  const paths = [...html.matchAll(/="(\/page\/[^"]+)"/g)].map(([, path]) => path)
  if (paths.length === 0) throw new Error(`The page has no files: ${html}`)
  let bytes = 0
  for (const path of paths) {
    const reply = await requestFile(`${address}${path}`)
    if (reply.headers.get('content-encoding') !== 'br') throw new Error(`${path} is not compressed.`)
    bytes += (await expectStatus200(reply)).length
  }
  console.log(`page             ${paths.length} files, ${Math.round(bytes / 1000)} kB before compression`)
}

function requestFile(url: string): Promise<Response> {
  const headers = { accept: 'text/html', 'accept-encoding': 'gzip, br' }
  return fetch(url, { headers, signal: AbortSignal.timeout(timeoutMs) })
}

function requestChat(address: string, key: string, stream: boolean): Promise<Response> {
  return fetch(`${address}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'weir/echo', stream, messages: [{ role: 'user', content: prompt }] }),
    signal: AbortSignal.timeout(timeoutMs),
  })
}

async function expectStatus200(reply: Response): Promise<string> {
  const body = await reply.text()
  if (reply.status !== 200) throw new Error(`A request got status ${reply.status}: ${body}`)
  return body
}

const executable = process.argv[2]
if (!executable) {
  console.error('Name the executable to try: bun run smoke dist/weir')
  process.exit(2)
}
const folder = await mkdtemp(join(tmpdir(), 'weir-smoke-'))
try {
  await smokeTest(resolve(executable), folder)
  console.log('The executable works.')
} finally {
  await rm(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 })
}
