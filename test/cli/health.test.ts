import { expect, onTestFinished, test } from 'bun:test'
import { createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { readinessUrl } from '../../src/cli/commands/health.ts'
import { projectFolder } from '../support/source.ts'
import { startWeir } from '../reliability/operation/support/weir-process.ts'
import { temporaryHome } from '../unit/config/support/temporary-home.ts'
import { callWeir, runWeir } from './support/run-weir.ts'

const tls = join(projectFolder, 'test/fixtures/tls')

test.each([
  ['HTTP', {}],
  [
    'TLS with a certificate of another host',
    { tls: { cert: join(tls, 'certificate.pem'), key: join(tls, 'key.pem') } },
  ],
])('weir health finds a running gateway ready over %s, and not after it has stopped', async (_, settings) => {
  using home = temporaryHome()
  const folder = home.place('work')
  await using server = await startWeir({ settings: { host: '0.0.0.0', ...settings }, folder })
  const { port, protocol } = new URL(server.url)
  const url = `${protocol}//127.0.0.1:${port}/readyz`
  const ready = await runWeir(['health', '--port', port], folder)
  expect(ready).toEqual({ code: 0, out: `Weir is ready at ${url}.\n`, err: '' })
  const proxy = 'http://127.0.0.1:1'
  const environment = { WEIR_PORT: port, http_proxy: proxy, https_proxy: proxy }
  const proxied = await runWeir(['health', '--json'], folder, environment)
  expect({ code: proxied.code, err: proxied.err }).toEqual({ code: 0, err: '' })
  expect(JSON.parse(proxied.out)).toEqual({ ready: true, url })
  server.signal('SIGTERM')
  await server.exited
  const stopped = await callWeir(['health', '--port', port], folder)
  expect(stopped).toMatchObject({ code: 1, out: '' })
  expect(stopped.err).toStartWith(`Weir is not ready at ${url}. The connection failed (ECONNREFUSED).`)
})

test('weir health fails with the reason when the gateway is not ready', async () => {
  using home = temporaryHome()
  const body = '{"error":{"message":"The gateway is not ready. The disk is full."}}'
  const port = await listen((socket) => {
    socket.end(`HTTP/1.1 503 Service Unavailable\r\ncontent-length: ${body.length}\r\n\r\n${body}`)
  })
  const { code, out, err } = await callWeir(['health', '--port', String(port), '--json'], home.place('work'))
  expect({ code, out }).toEqual({ code: 1, out: '' })
  expect(JSON.parse(err).error).toEqual({
    message: `Weir is not ready at http://127.0.0.1:${port}/readyz. The status is 503. The gateway is not ready. The disk is full.`,
    code: 'failed',
  })
})

test('weir health waits for a silent server no longer than its timeout', async () => {
  using home = temporaryHome()
  const port = await listen(() => {})
  const args = ['health', '--port', String(port), '--timeout', '200ms']
  const { code, err } = await callWeir(args, home.place('work'))
  expect({ code, err }).toEqual({
    code: 1,
    err: `Weir is not ready at http://127.0.0.1:${port}/readyz. There was no response within 200 ms.\n`,
  })
})

test.each([
  ['--timeout 2m', '--timeout must be a duration of at most 1m, such as 3s, not “2m”.'],
  ['--timeout soon', '--timeout must be a duration of at most 1m, such as 3s, not “soon”.'],
  ['--port 0', 'The port of the settings is 0, which picks a free one. Name it with --port.'],
])('weir health %s is wrong usage', async (flags, message) => {
  using home = temporaryHome()
  const result = await callWeir(['health', ...flags.split(' ')], home.place('work'))
  expect(result).toEqual({ code: 2, out: '', err: `${message}\n` })
})

test.each([
  ['127.0.0.1', 'http://127.0.0.1:9347/readyz'],
  ['0.0.0.0', 'http://127.0.0.1:9347/readyz'],
  ['::', 'http://[::1]:9347/readyz'],
  ['fd00::1', 'http://[fd00::1]:9347/readyz'],
  ['gateway.internal', 'http://gateway.internal:9347/readyz'],
])('a server that listens on %s is probed at %s', (host, url) => {
  expect(readinessUrl({ host, port: 9347 })).toBe(url)
})

/** Listens on a free port and calls back with the connection of each request. */
async function listen(onRequest: (socket: Socket) => void): Promise<number> {
  const server = createServer((socket) => {
    socket.on('error', () => {})
    socket.once('data', () => onRequest(socket))
    onTestFinished(() => void socket.destroy())
  })
  onTestFinished(() => void server.close())
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('The server has no port.')
  return address.port
}
