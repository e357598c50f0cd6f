import { afterAll, beforeAll, expect, onTestFinished, test } from 'bun:test'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { recordBytecodeOrder } from '../../src/build/bytecode-order.ts'
import { bundle, compile } from '../../src/build/compile.ts'
import { checksums, formatChecksums } from '../../src/build/release.ts'
import { bareEnvironment } from '../../src/build/installation.ts'
import { residentOf } from '../bench/memory.ts'
import { firstKey } from '../support/app.ts'
import { canRunWorkers } from '../reliability/operation/support/weir-workers.ts'
import { databaseEnvironment, newPostgresDatabase } from '../support/database-connection.ts'
import { projectFolder } from '../support/source.ts'
import { builtExecutable } from '../support/weir-command.ts'

const suffix = process.platform === 'win32' ? '.exe' : ''
/** Bun's own runtime is most of the file: what grows beyond this is ours. */
const sizeBudget = 130 * 1024 * 1024
/** A server of Bun that does nothing has 24 MB, and this one 73 without the order of its bytecode. */
const memoryBudget = 72 * 1024 * 1024

const program = join(projectFolder, 'src/main.ts')

let folder: string
let executable: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'weir-build-'))
  executable = builtExecutable ?? (await build(join(folder, `weir${suffix}`)))
}, 120_000)

afterAll(() => rm(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 }))

test('the executable serves requests from an empty folder with nothing configured', async () => {
  const empty = await emptyFolder('empty')
  const { version } = await Bun.file(join(projectFolder, 'package.json')).json()
  expect(await run(executable, ['version'], empty)).toMatchObject({
    code: 0,
    out: expect.stringContaining(`weir ${version}`),
  })
  expect(await run(executable, ['--help'], empty)).toMatchObject({
    code: 0,
    out: expect.stringContaining('Usage'),
  })
  expect(await Array.fromAsync(new Bun.Glob('**/*').scan({ cwd: empty, dot: true }))).toEqual([])
})

test('the executable reads no settings from a .env or bunfig.toml in its folder', async () => {
  const strange = await emptyFolder('strange')
  await Bun.write(join(strange, '.env'), 'FOUND_BY_CHANCE=yes\n')
  await Bun.write(join(strange, 'bunfig.toml'), 'preload = ["./found-by-chance.ts"]\n')
  await Bun.write(join(strange, 'found-by-chance.ts'), "console.log('found by chance')\n")
  await Bun.write(
    join(folder, 'probe.ts'),
    `await 0
    console.log(process.env.FOUND_BY_CHANCE ?? 'nothing', process.env.NODE_ENV)`,
  )
  const probe = join(folder, `probe${suffix}`)
  await compile(join(folder, 'probe.ts'), probe)
  expect(await run(probe, [], strange)).toEqual({ code: 0, out: 'nothing production\n', complaint: '' })
})

test.if(canRunWorkers)('the executable starts workers of itself, and SIGTERM ends them', async () => {
  const data = await emptyFolder('workers')
  const { location, delete: remove } = await newPostgresDatabase()
  onTestFinished(remove)
  const env = {
    ...bareEnvironment(join(folder, 'home')),
    ...databaseEnvironment(location),
    WEIR_BOOTSTRAP_KEY: firstKey,
  }
  const { server, url } = await serve(['--workers', '2'], data, env)
  const metrics = await (await fetch(`${url}/metrics`)).text()
  expect(metrics).toContain('\nweir_workers 2\n')
  server.kill('SIGTERM')
  expect(await server.exited).toBe(0)
  expect(await server.stderr.text()).toContain('The gateway is shutting down.')
})

test.if(process.platform === 'linux')(
  'a server that waits for requests stays within its memory budget',
  async () => {
    const { server } = await serve([], await emptyFolder('memory'), bareEnvironment(join(folder, 'home')))
    expect(residentOf(server.pid)).toBeLessThan(memoryBudget)
    server.kill('SIGTERM')
    expect(await server.exited).toBe(0)
  },
)

test('the executable stays within its size budget', () => {
  expect(Bun.file(executable).size).toBeLessThan(sizeBudget)
})

test('the code of the server is apart from what the executable always loads', async () => {
  const { outputs } = await bundle(program)
  const first = Object.values(outputs).find(({ entryPoint }) => entryPoint?.endsWith('src/main.ts'))
  expect(first?.bytes).toBeLessThan(20_000)
})

test('a program that cannot be built is an error with the reason', async () => {
  await Bun.write(join(folder, 'broken.ts'), "import '../build/nowhere.ts'\n")
  await expect(compile(join(folder, 'broken.ts'), join(folder, 'broken'))).rejects.toThrow('nowhere.ts')
  expect(await Bun.file(join(folder, 'broken')).exists()).toBe(false)
})

test('checksums are lines that sha256sum accepts', async () => {
  await Bun.write(join(folder, 'abc'), 'abc')
  const hash = 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad'
  expect(formatChecksums(await checksums([join(folder, 'abc')]))).toBe(`${hash}  abc\n`)
})

/** As `bun run build` does; the gate has done it already. */
async function build(file: string): Promise<string> {
  const bytecodeOrder = await recordBytecodeOrder(program, await emptyFolder('order'))
  await compile(program, file, { bytecodeOrder })
  return file
}

async function emptyFolder(name: string): Promise<string> {
  const path = join(folder, name)
  await mkdir(path)
  return path
}

async function serve(args: string[], cwd: string, env: Record<string, string>) {
  const server = Bun.spawn([executable, ...args, '--port', '0'], {
    cwd,
    env,
    stdout: 'pipe',
    stderr: 'pipe',
    stdin: 'ignore',
  })
  onTestFinished(() => server.kill('SIGKILL'))
  let output = ''
  for await (const text of server.stdout.pipeThrough(new TextDecoderStream())) {
    output += text
    const url = /listens on (\S+)\n/.exec(output)?.[1]
    if (url !== undefined) return { server, url }
  }
  throw new Error(`The server did not start:\n${output}${await server.stderr.text()}`)
}

async function run(program: string, args: string[], cwd: string) {
  const env = bareEnvironment(join(folder, 'home'))
  const running = Bun.spawn([program, ...args], { cwd, env, stdout: 'pipe', stderr: 'pipe', stdin: 'ignore' })
  const [out, complaint] = await Promise.all([running.stdout.text(), running.stderr.text()])
  return { code: await running.exited, out, complaint }
}
