import { expect, onTestFinished, test } from 'bun:test'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { workerCount, workersProblem } from '../../src/cli/serve/workers/worker-count.ts'
import type { Secret } from '../../src/lib/secret.ts'
import { newPostgresDatabase } from '../support/database-connection.ts'
import { freePort } from '../support/free-port.ts'
import { temporaryFolder } from '../unit/storage/support/folder.ts'
import { canRunWorkers, isRunning, startWorkers } from '../reliability/operation/support/weir-workers.ts'
import { runOnTerminal } from './support/run-terminal.ts'
import { runWeir } from './support/run-weir.ts'

const settings = { providers: { echo: {} } }
const question = { model: 'weir/echo', messages: [{ role: 'user', content: 'Hello' }] }

/** An empty database that is deleted after the test, as the environment of the program. */
async function databaseEnvironment() {
  const { location, delete: remove } = await newPostgresDatabase()
  onTestFinished(remove)
  return { PATH: process.env.PATH ?? '', WEIR_DATABASE: (location as Secret).reveal() }
}

const database = 'postgres://weir@127.0.0.1:9/weir'

test('the number of workers is that of the setting, and 0 is one for each core with PostgreSQL, and one with SQLite', () => {
  expect([1, 4].map((workers) => workerCount({ workers, database }, 'linux'))).toEqual([1, 4])
  expect(workerCount({ workers: 0, database }, 'linux')).toBe(availableParallelism())
  expect(workerCount({ workers: 0 }, 'linux')).toBe(1)
})

test.each(['darwin', 'win32'] as const)(
  'several workers are refused on %s, and 0 is one there',
  (platform) => {
    expect([1, 0].map((workers) => workerCount({ workers, database }, platform))).toEqual([1, 1])
    expect([1, 0].map((workers) => workersProblem({ workers, database }, platform))).toEqual([
      undefined,
      undefined,
    ])
    expect(workersProblem({ workers: 2, database }, platform)).toContain('only on Linux')
  },
)

test('an invalid number of workers is wrong usage', async () => {
  const folder = temporaryFolder()
  const { code, err } = await runWeir(['serve', '--workers', 'many'], folder)
  expect([code, err]).toEqual([2, expect.stringContaining('--workers: must be a whole number from 0 to 256')])
})

test.if(process.platform === 'linux')(
  'several workers on SQLite are wrong usage, in a flag, a variable and weir.yaml, and create no data',
  async () => {
    const folder = temporaryFolder()
    const environment = { WEIR_DATA: join(folder, 'data') }
    const needed = 'must be 0 or 1 with SQLite, which one process uses. Several need PostgreSQL'
    const refused = (code: number, path: string) => ({
      code,
      out: '',
      err: expect.stringContaining(`${path}: ${needed}`),
    })
    const port = ['--port', '0']
    expect(await runWeir(['--workers', '2', ...port], folder, environment)).toEqual(refused(2, '--workers'))
    const variable = { ...environment, WEIR_WORKERS: '2' }
    expect(await runWeir(port, folder, variable)).toEqual(refused(1, 'WEIR_WORKERS'))
    expect((await runWeir(['check'], folder, variable)).out).toContain(`WEIR_WORKERS: ${needed}`)
    await Bun.write(join(folder, 'weir.yaml'), 'workers: 2\n')
    expect(await runWeir(port, folder, environment)).toEqual(refused(1, 'workers'))
    expect(await Array.fromAsync(new Bun.Glob('**/weir.*').scan(folder))).toEqual(['weir.yaml'])
  },
)

test('a worker cannot be started by hand, and no help mentions it', async () => {
  const folder = temporaryFolder()
  const byHand = await runWeir(['serve-worker'], folder)
  expect([byHand.code, byHand.err]).toEqual([2, 'A worker is started by weir serve --workers.\n'])
  expect((await runWeir(['--help'], folder)).out).not.toContain('serve-worker')
})

test.if(canRunWorkers)('there is one banner, and the first keys are shown once', async () => {
  const [folder, environment] = [temporaryFolder(), await databaseEnvironment()]
  const run = () => runOnTerminal(['serve', '--workers', '3', '--port', '0'], folder, environment)
  await using first = run()
  await first.until(/For the settings of other tools/)
  expect(first.text().match(/listens on/g)).toHaveLength(1)
  const keys = [...new Set(first.text().match(/sk-weir-[\w-]+/g))]
  expect(keys.map((key) => key.startsWith('sk-weir-admin-'))).toEqual([false, true])
  first.type('\u0003')
  expect(await first.exited).toBe(0)
  await using second = run()
  await second.until(/Create another API key/)
  expect(second.text()).toMatch(/  page  .* open --admin --url http/)
  expect(second.text()).not.toMatch(/sk-weir-|admin key/)
  second.type('\u0003')
  expect(await second.exited).toBe(0)
})

test.if(canRunWorkers)(
  'on a terminal the requests of all workers are readable lines, and Ctrl-C ends all',
  async () => {
    const environment = await databaseEnvironment()
    // A port that the system chooses can be taken by a socket of another test before both workers listen.
    const port = String(await freePort())
    await using weir = runOnTerminal(['--workers', '2', '--port', port], temporaryFolder(), environment)
    const [, key = ''] = await weir.until(/WEIR_API_KEY=(\S+)/)
    const [, url = ''] = await weir.until(/listens on (\S+)/)
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
    const body = JSON.stringify(question)
    const send = () => fetch(`${url}/v1/chat/completions`, { method: 'POST', headers, body })
    const replies = await Promise.all(Array.from({ length: 20 }, send))
    expect(replies.every(({ status }) => status === 200)).toBe(true)
    await weir.until(/(?:[^\n]*POST [^\n]*weir\/echo[^\n]*\n){20}/)
    weir.type('\u0003')
    expect(await weir.exited).toBe(0)
    const lines = weir.text().split(/\r?\n/)
    expect(lines.filter((line) => /\d\d:\d\d:\d\d.*POST.*weir\/echo/.test(line))).toHaveLength(20)
  },
)

test.if(canRunWorkers)(
  'a server at the port of workers is refused, with and without workers of its own',
  async () => {
    await using weir = await startWorkers(2, { settings, folder: temporaryFolder() })
    const { port } = new URL(weir.url)
    for (const workers of ['1', '2']) {
      const flags = ['serve', '--port', port, '--workers', workers]
      const samePort = await runWeir(flags, temporaryFolder(), { WEIR_DATABASE: weir.database })
      expect(samePort).toMatchObject({
        code: 1,
        err: expect.stringContaining(`port ${port} is already in use`),
      })
    }
    expect((await weir.chat(question)).status).toBe(200)
  },
)

test.if(canRunWorkers)(
  'workers that cannot use the settings do not start, and the reason is printed once',
  async () => {
    const folder = temporaryFolder()
    await Bun.write(join(folder, 'weir.yaml'), 'providers: { acme: { kind: openai-compatible } }\n')
    const { code, out, err } = await runWeir(['--workers', '2', '--port', '0'], folder, {
      WEIR_DATABASE: database,
    })
    expect([code, out]).toEqual([1, ''])
    expect(err.match(/providers\.acme/g)).toHaveLength(1)
  },
)

test.if(canRunWorkers)('the request lines of all workers are whole, however long they are', async () => {
  await using weir = await startWorkers(3, { settings, folder: temporaryFolder() })
  const model = `acme/${'x'.repeat(3000)}`
  const send = () => weir.chat({ ...question, model, metadata: { topic: 'é'.repeat(200) } })
  for (let round = 0; round < 5; round++)
    for (const reply of await Promise.all(Array.from({ length: 60 }, send))) expect(reply.status).toBe(404)
  weir.signal('SIGTERM')
  expect(await weir.exited).toBe(0)
  await weir.readToEnd
  const lines = weir.requestLines().map((line) => JSON.parse(line))
  expect(new Set(lines.map(({ request }) => request))).toHaveLength(300)
  expect(weir.workers().filter(isRunning)).toEqual([])
})
