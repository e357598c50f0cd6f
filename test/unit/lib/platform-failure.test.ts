import { expect, test } from 'bun:test'
import { openSync } from 'node:fs'
import { causeOf } from '../../../src/lib/log.ts'
import { platformFailure } from '../../../src/lib/platform-failure.ts'

async function failureOf(work: () => unknown): Promise<unknown> {
  try {
    await work()
  } catch (error) {
    return error
  }
  throw new Error('It did not fail.')
}

/** The address of a server that closes each connection. */
function closingServer() {
  const server = Bun.listen({
    hostname: '127.0.0.1',
    port: 0,
    socket: { open: (socket) => void socket.end(), data() {} },
  })
  return { url: `http://127.0.0.1:${server.port}`, [Symbol.dispose]: () => server.stop(true) }
}

test('a failed connection is described without the words of the runtime', async () => {
  using server = closingServer()
  const closed = await failureOf(() => fetch(server.url))
  expect(causeOf(closed)).toBe('the connection was closed (ECONNRESET)')
  const refused = await failureOf(() => fetch('http://127.0.0.1:1/'))
  expect(causeOf(refused)).toBe('the connection was refused (ECONNREFUSED)')
  const unknown = await failureOf(() => fetch('http://host.invalid/'))
  expect(causeOf(unknown)).toMatch(
    /^(there is no host of this name|the name of the host could not be resolved) \(/,
  )
  const late = await failureOf(() => fetch(server.url, { signal: AbortSignal.timeout(0) }))
  expect(causeOf(late)).toMatch(/^(it timed out|the connection was closed \(ECONNRESET\))$/)
})

test('a failed access to a file is described with its path', async () => {
  const missing = await failureOf(() => openSync('/nowhere/file', 'r'))
  expect(causeOf(missing)).toBe('the file does not exist (ENOENT): /nowhere/file')
})

test.each([
  ['EDOM', 'the operation failed (EDOM)'],
  ['ERR_TLS_HANDSHAKE_TIMEOUT', 'TLS failed (ERR_TLS_HANDSHAKE_TIMEOUT)'],
  ['ERR_INVALID_ARG_TYPE', undefined],
  ['23505', undefined],
  [7, undefined],
])('the code %p is %p', (code, expected) => {
  expect(platformFailure(Object.assign(new Error('words of the platform'), { code }))).toBe(expected)
})

test('any other error keeps its name and its message', () => {
  expect(causeOf(new RangeError('out of range'))).toBe('RangeError: out of range')
  expect(causeOf('text')).toBe('text')
})
