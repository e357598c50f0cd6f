import { expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { temporaryHome } from '../../unit/config/support/temporary-home.ts'
import { firstKey } from '../../support/app.ts'
import { waitUntil } from '../../support/billing-database.ts'
import { freePort } from '../../support/free-port.ts'
import { weirCommand } from '../../support/weir-command.ts'

const headers = { authorization: `Bearer ${firstKey}` }

/** The program itself; what it writes is read by the test. */
async function startProgram() {
  const home = temporaryHome({})
  const child = Bun.spawn([...weirCommand, 'serve', '--port', '0'], {
    cwd: home.place('.'),
    env: { HOME: home.place('.'), WEIR_BOOTSTRAP_KEY: firstKey },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const reader = child.stdout.getReader()
  let output = ''
  const read = async () => {
    const { value, done } = await reader.read()
    output += new TextDecoder().decode(value)
    return !done
  }
  const address = () => /listens on (\S+)\n/.exec(output)?.[1]
  while (address() === undefined && (await read())) {}
  return {
    child,
    url: address() ?? '',
    reader,
    /** All that it writes until it ends. */
    async rest() {
      while (await read()) {}
      return output
    },
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL')
      await child.exited
      home[Symbol.dispose]()
    },
  }
}

test('request lines follow the startup lines, and the last ones are written before the exit', async () => {
  await using program = await startProgram()
  const ids = await Promise.all(
    Array.from({ length: 20 }, async () => {
      const reply = await fetch(`${program.url}/v1/models`, { headers })
      return reply.headers.get('x-request-id')
    }),
  )
  program.child.kill('SIGTERM')
  const output = await program.rest()
  expect(await program.child.exited).toBe(0)
  expect(output).toStartWith('weir ')
  const lines = output.split('\n').filter((line) => line.startsWith('{'))
  const requests = lines.map((line) => JSON.parse(line).request)
  expect(requests.toSorted()).toEqual(ids.toSorted())
  expect(await program.child.stderr.text()).not.toContain('req_')
})

test('a closed standard output blocks nothing', async () => {
  await using program = await startProgram()
  await program.reader.cancel()
  for (let count = 0; count < 50; count++) {
    expect((await fetch(`${program.url}/v1/models`, { headers })).status).toBe(200)
  }
  program.child.kill('SIGTERM')
  expect(await program.child.exited).toBe(0)
  expect(await program.child.stderr.text()).not.toContain('EPIPE')
})

const canFill = existsSync('/dev/full') && process.platform === 'linux'

test.skipIf(!canFill)(
  'outputs on a full disk stop no gateway, and its exit code is that of a success',
  async () => {
    using home = temporaryHome({})
    const port = String(await freePort())
    const script = 'exec "$@" > /dev/full'
    const child = Bun.spawn(['sh', '-c', script, 'sh', ...weirCommand, 'serve', '--port', port], {
      cwd: home.place('.'),
      env: { HOME: home.place('.'), WEIR_BOOTSTRAP_KEY: firstKey },
      stdin: 'ignore',
      stderr: 'pipe',
    })
    const url = `http://127.0.0.1:${port}/v1/models`
    const request = () =>
      fetch(url, { headers })
        .then(({ status }) => status)
        .catch(() => 0)
    await waitUntil(async () => (await request()) === 200, 'a gateway that listens')
    expect(await request()).toBe(200)
    child.kill('SIGTERM')
    expect(await child.exited).toBe(0)
    const log = await child.stderr.text()
    expect(log).toContain('The output could not be written: the disk is full (ENOSPC).\n')
    expect(log).not.toContain('bunfs')
    expect(log).not.toMatch(/^ +at /m)
  },
)

test.skipIf(!canFill)('request lines that are lost on a full disk are counted', async () => {
  using home = temporaryHome({})
  const port = String(await freePort())
  const child = Bun.spawn(
    ['sh', '-c', 'exec "$@" > /dev/full', 'sh', ...weirCommand, 'serve', '--port', port],
    {
      cwd: home.place('.'),
      env: { HOME: home.place('.'), WEIR_BOOTSTRAP_KEY: firstKey },
      stdin: 'ignore',
      stderr: 'pipe',
    },
  )
  const textOf = (path: string) =>
    fetch(`http://127.0.0.1:${port}${path}`, { headers })
      .then((reply) => reply.text())
      .catch(() => undefined)
  const droppedLines = async () =>
    Number(/^weir_log_lines_dropped_total (\d+)$/m.exec((await textOf('/metrics')) ?? '')?.[1])
  await waitUntil(async () => (await droppedLines()) === 0, 'a gateway that listens')
  for (let count = 0; count < 3; count++) expect(await textOf('/v1/models')).toContain('"list"')
  await waitUntil(async () => (await droppedLines()) === 3, 'three lines that are counted')
  child.kill('SIGTERM')
  expect(await child.exited).toBe(0)
})

test.skipIf(!canFill)('a command whose output is on a full disk fails with one line', async () => {
  using home = temporaryHome({})
  const child = Bun.spawn(['sh', '-c', 'exec "$@" > /dev/full', 'sh', ...weirCommand, 'models'], {
    cwd: home.place('.'),
    env: { HOME: home.place('.') },
    stdin: 'ignore',
    stderr: 'pipe',
  })
  expect(await child.exited).toBe(1)
  expect(await child.stderr.text()).toBe('The output could not be written: the disk is full (ENOSPC).\n')
})
