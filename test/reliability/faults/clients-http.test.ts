import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { BillingScenario } from '../../support/billing-scenario.ts'
import { firstKey } from '../../support/app.ts'
import { openConnection } from '../../support/connection.ts'
import { chatRequest } from '../../support/scenario.ts'
import { expectHealthy, startFaultScenario } from './support/fault-scenario.ts'
import { type ProtocolFixture, protocolFixtures } from './support/protocol-fixtures.ts'

const [fixture] = protocolFixtures as readonly [ProtocolFixture]
const body = JSON.stringify(chatRequest)
const key = `authorization: Bearer ${firstKey}\r\n`
const length = `content-length: ${body.length}\r\n`
const chunk = `${body.length.toString(16)}\r\n${body}\r\n`

/** A request that asks for the models. */
function listing(line: string, more = ''): string {
  return `${line}\r\nhost: a\r\n${key}${more}connection: close\r\n\r\n`
}

/** A question, with these headers and this for its body. */
function requesting(headers: string, sent = body): string {
  return `POST /v1/chat/completions HTTP/1.1\r\nhost: a\r\n${key}${headers}connection: close\r\n\r\n${sent}`
}

/** What is written, and the status of each reply before the connection ends; none where it just ends. */
type Case = readonly [name: string, bytes: string, statuses: readonly number[]]

const refusals: readonly Case[] = [
  ['bytes that are no request', 'hello gateway\r\n\r\n', [400]],
  ['zeros', '\0'.repeat(1000), [400]],
  ['the hello of TLS', '\x16\x03\x01\x02\0\x01\0\x01\xfc\x03\x03'.padEnd(200, 'x'), [400]],
  ['the preface of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', [400]],
  ['a request without a version', 'GET /v1/models\r\n\r\n', [505]],
  ['a version that does not exist', listing('GET /v1/models HTTP/7.3'), [505]],
  ['a method that does not exist', listing('BREW /v1/models HTTP/1.1'), []],
  ['a request without a host', `GET /v1/models HTTP/1.1\r\n${key}\r\n`, [400]],
  ['a path without a slash', listing('GET v1/models HTTP/1.1'), [400]],
  ['a request for everything', listing('OPTIONS * HTTP/1.1'), [400]],
  ['a header of 20 kB', listing('GET /v1/models HTTP/1.1', `x: ${'y'.repeat(20_000)}\r\n`), [431]],
  ['a path of 20 kB', listing(`GET /v1/models?${'y'.repeat(20_000)} HTTP/1.1`), [431]],
  ['five thousand headers', listing('GET /v1/models HTTP/1.1', 'x: y\r\n'.repeat(5000)), [431]],
  ['headers of which one is folded', listing('GET /v1/models HTTP/1.1', 'x: y\r\n z\r\n'), [400]],
  ['a zero in a header', listing('GET /v1/models HTTP/1.1', 'x: y\0z\r\n'), [400]],
  ['chunks of no size', requesting('transfer-encoding: chunked\r\n', `zz\r\n${body}\r\n0\r\n\r\n`), [400]],
  [
    'a chunk of a huge size',
    requesting('transfer-encoding: chunked\r\n', `${'f'.repeat(20)}\r\n${body}`),
    [400],
  ],
  ['a chunk below zero', requesting('transfer-encoding: chunked\r\n', `-5\r\n${body}\r\n0\r\n\r\n`), [400]],
  [
    'a chunk longer than it says',
    requesting('transfer-encoding: chunked\r\n', `5\r\n${body}\r\n0\r\n\r\n`),
    [400],
  ],
  ['chunks and a length', requesting(`${length}transfer-encoding: chunked\r\n`, `${chunk}0\r\n\r\n`), [400]],
  ['two lengths', requesting(`${length}content-length: 3\r\n`), [400]],
  ['a length below zero', requesting('content-length: -1\r\n'), [400]],
  ['a length that is no number', requesting('content-length: many\r\n'), [400]],
  ['a length beyond all numbers', requesting(`content-length: ${'9'.repeat(20)}\r\n`), [400]],
  ['a body of 100 GB', requesting('content-length: 100000000000\r\n'), [413]],
  ['an encoding nobody knows', requesting('transfer-encoding: rot13\r\n'), [400]],
  [
    'a second question before the answer',
    requesting(length).replace('connection: close\r\n', '').repeat(2),
    [],
  ],
]

const answers: readonly Case[] = [
  ['a whole address', listing('GET http://elsewhere.test/v1/models HTTP/1.1'), [200]],
  ['the version before this one', `GET /v1/models HTTP/1.0\r\n${key}\r\n`, [200]],
  ['a question in that version', `POST /v1/chat/completions HTTP/1.0\r\n${key}${length}\r\n${body}`, [200]],
  [
    'an error in that version',
    `POST /v1/chat/completions HTTP/1.0\r\n${key}content-length: 2\r\n\r\n{}`,
    [400],
  ],
  ['an unknown path in that version', `GET /v1/nothing HTTP/1.0\r\n${key}\r\n`, [404]],
  [
    'a host that is no name',
    `GET /v1/models HTTP/1.1\r\nhost: [a b/c?\r\n${key}connection: close\r\n\r\n`,
    [200],
  ],
  ...['[::1', 'x:y:z', 'acme.test:99999'].map((host): Case => [
    `the host ${host}`,
    `GET /v1/models HTTP/1.1\r\nhost: ${host}\r\n${key}connection: close\r\n\r\n`,
    [200],
  ]),
  ['only the headers of a list', listing('HEAD /v1/models HTTP/1.1'), [200]],
  ...['OPTIONS', 'TRACE', 'PUT', 'PATCH', 'DELETE'].map((method): Case => [
    `${method} of a list`,
    listing(`${method} /v1/models HTTP/1.1`),
    [405],
  ]),
  ['a tunnel', 'CONNECT acme.test:443 HTTP/1.1\r\nhost: acme.test\r\nconnection: close\r\n\r\n', [404]],
  [
    'an upgrade to a socket',
    listing(
      'GET /v1/models HTTP/1.1',
      'upgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n',
    ),
    [200],
  ],
  ['a question that is announced', requesting(`${length}expect: 100-continue\r\n`), [100, 200]],
  ['a question in chunks', requesting('transfer-encoding: chunked\r\n', `${chunk}0\r\n\r\n`), [200]],
  [
    'a question in chunks with notes',
    requesting('transfer-encoding: chunked\r\n', `${chunk.replace('\r\n', ';a=b\r\n')}0\r\n\r\n`),
    [200],
  ],
  ['a body where none belongs', listing('GET /v1/models HTTP/1.1', length) + body, [200]],
  ['less than the whole body', requesting('content-length: 10\r\n', body.slice(0, 10)), [400]],
  ['a path that is no text', listing('GET /v1/models/%ff%fe HTTP/1.1'), [404]],
  ['a path of bytes', listing('GET /v1/models/\xff\xfe HTTP/1.1'), [404]],
  ['a path with two slashes', listing('GET //v1/models HTTP/1.1'), [404]],
]

describe('a client connection that sends', () => {
  let scenario: BillingScenario
  beforeAll(async () => {
    scenario = await startFaultScenario(fixture)
  })
  afterAll(() => scenario[Symbol.asyncDispose]())

  test.each([...refusals, ...answers].map((row) => [...row] as const))('%s', async (_, bytes, statuses) => {
    const connection = await openConnection(scenario.app.url)
    connection.write(Buffer.from(bytes, 'latin1'))
    const received = await connection.end()
    expect([...received.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => Number(status))).toEqual([
      ...statuses,
    ])
    expect(received).not.toMatch(/<html|node_modules|\/src\//)
    await expectHealthy(scenario, fixture)
    expect(scenario.app.lines).toEqual([])
    expect(await scenario.billing.openReservations()).toBe(0)
    await scenario.billing.expectConsistent()
  })

  test('a thousand incomplete request heads do not delay the replies to others', async () => {
    const held = await Promise.all(Array.from({ length: 1000 }, () => openConnection(scenario.app.url)))
    held.forEach((connection, number) => connection.write(`POST /v1/responses HTTP/1.1\r\nx-${number}: `))
    for (let round = 0; round < 20; round++) {
      held.forEach((connection) => connection.write('y'))
      await expectHealthy(scenario, fixture)
    }
    held.forEach((connection) => connection.reset())
    await expectHealthy(scenario, fixture)
  })
})
