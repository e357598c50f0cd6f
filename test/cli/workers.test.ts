import { expect, test } from 'bun:test'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { workerCount } from '../../src/cli/serve/workers/worker-count.ts'
import { temporaryFolder } from '../unit/storage/support/folder.ts'
import { isRunning, startWorkers } from '../reliability/operation/support/weir-workers.ts'
import { runOnTerminal } from './support/run-terminal.ts'
import { runWeir } from './support/run-weir.ts'

const isLinux = process.platform === 'linux'
const settings = { providers: { echo: {} } }
const question = { model: 'weir/echo', messages: [{ role: 'user', content: 'Hello' }] }

/** The data of all processes of a test is in one folder. */
function environmentOf(folder: string) {
  return { PATH: process.env.PATH ?? '', WEIR_DATA: folder }
}

test('the number of workers is that of the setting, and 0 is one for each core', () => {
  expect([workerCount(1, 'linux'), workerCount(4, 'linux')]).toEqual([1, 4])
  expect(workerCount(0, 'linux')).toBe(availableParallelism())
})

test.each(['darwin', 'win32'] as const)(
  'several workers are refused on %s, and 0 is one there',
  (platform) => {
    expect([workerCount(1, platform), workerCount(0, platform)]).toEqual([1, 1])
    expect(() => workerCount(2, platform)).toThrow('Several workers require Linux')
  },
)

test('an invalid number of workers is wrong usage', async () => {
  const folder = temporaryFolder()
  const { code, err } = await runWeir(['serve', '--workers', 'many'], folder)
  expect([code, err]).toEqual([2, expect.stringContaining('--workers: must be a whole number from 0 to 256')])
})

test('a worker cannot be started by hand, and no help mentions it', async () => {
  const folder = temporaryFolder()
  const byHand = await runWeir(['serve-worker'], folder)
  expect([byHand.code, byHand.err]).toEqual([2, 'A worker is started by weir serve --workers.\n'])
  expect((await runWeir(['--help'], folder)).out).not.toContain('serve-worker')
})

test.if(isLinux)('there is one banner, and the first key is shown once', async () => {
  const folder = temporaryFolder()
  const run = () => runOnTerminal(['serve', '--workers', '3', '--port', '0'], folder, environmentOf(folder))
  await using first = run()
  await first.until(/For the settings of other tools/)
  expect(first.text().match(/listens on/g)).toHaveLength(1)
  expect(new Set(first.text().match(/sk-weir-\S+/g))).toHaveLength(1)
  first.type('\u0003')
  expect(await first.exited).toBe(0)
  await using second = run()
  await second.until(/Create another API key/)
  expect(second.text()).not.toContain('sk-weir-')
  second.type('\u0003')
  expect(await second.exited).toBe(0)
})

test.if(isLinux)(
  'on a terminal the requests of all workers are readable lines, and Ctrl-C ends all',
  async () => {
    const folder = temporaryFolder()
    await using weir = runOnTerminal(['--workers', '2', '--port', '0'], folder, environmentOf(folder))
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

test.if(isLinux)(
  'a server at the port or on the data of workers is refused, with and without workers of its own',
  async () => {
    await using weir = await startWorkers(2, { settings, folder: temporaryFolder() })
    const { port } = new URL(weir.url)
    const used = weir.folder
    for (const workers of ['1', '2']) {
      const elsewhere = temporaryFolder()
      const samePort = await runWeir(['serve', '--port', port, '--workers', workers], elsewhere, {
        WEIR_DATA: elsewhere,
      })
      expect(samePort).toMatchObject({
        code: 1,
        err: expect.stringContaining(`port ${port} is already in use`),
      })
      const sameData = await runWeir(['serve', '--port', '0', '--workers', workers], elsewhere, {
        WEIR_DATA: used,
      })
      expect(sameData).toMatchObject({
        code: 1,
        err: expect.stringContaining('is in use by another weir server'),
      })
      expect(await Array.fromAsync(new Bun.Glob('weir.db*').scan(elsewhere))).toEqual([])
    }
    expect((await weir.chat(question)).status).toBe(200)
  },
)

test.if(isLinux)(
  'workers that cannot use the settings do not start, and the reason is printed once',
  async () => {
    const folder = temporaryFolder()
    await Bun.write(join(folder, 'weir.yaml'), 'providers: { acme: { kind: openai-compatible } }\n')
    const { code, out, err } = await runWeir(['--workers', '2', '--port', '0'], folder, { WEIR_DATA: folder })
    expect([code, out]).toEqual([1, ''])
    expect(err.match(/providers\.acme/g)).toHaveLength(1)
    expect(await Array.fromAsync(new Bun.Glob('weir.db*').scan(folder))).toEqual([])
  },
)

test.if(isLinux)('the request lines of all workers are whole, however long they are', async () => {
  await using weir = await startWorkers(3, { settings, folder: temporaryFolder() })
  const model = `acme/${'x'.repeat(3000)}`
  const send = () => weir.chat({ ...question, model, metadata: { topic: 'é'.repeat(200) } })
  for (let round = 0; round < 5; round++)
    for (const reply of await Promise.all(Array.from({ length: 60 }, send))) expect(reply.status).toBe(404)
  weir.signal('SIGTERM')
  expect(await weir.exited).toBe(0)
  const lines = weir.requestLines().map((line) => JSON.parse(line))
  expect(new Set(lines.map(({ request }) => request))).toHaveLength(300)
  expect(weir.workers().filter(isRunning)).toEqual([])
})
