import { expect, test } from 'bun:test'
import { jsonReply } from '../../support/chat-fixtures.ts'
import { openConnection } from '../../support/connection.ts'
import { chatRequest, startScenario } from '../../support/scenario.ts'

const hello = '5\r\nhello\r\n'
const long = `12c\r\n${'x'.repeat(300)}\r\n`

/** The first part of a body, with which it is refused, and the rest with the trailer. */
test.each([
  ['before its body', 401, 'sk-none', '', `${hello}0\r\nx-checksum: a\r\n\r\n`],
  ['within its body', 401, 'sk-none', hello, '0\r\nx-checksum: a\r\n\r\n'],
  ['for its length', 413, undefined, long, '0\r\nx-checksum: a\r\n\r\n'],
  ['after its body', 400, undefined, `${hello}0\r\n`, 'x-checksum: a\r\n\r\n'],
])(
  'a chunked request that is refused %s gets one reply, whatever trailer follows',
  async (_, status, key, first, rest) => {
    await using scenario = await startScenario(jsonReply(), { settings: { max_body: 200 } })
    const { app, acme } = scenario
    const connection = await openConnection(app.url)
    const head = [
      'POST /v1/chat/completions HTTP/1.1',
      'host: a',
      `authorization: Bearer ${key ?? app.key}`,
      'transfer-encoding: chunked',
      'trailer: x-checksum',
    ]
    connection.write(`${head.join('\r\n')}\r\n\r\n${first}`)
    await connection.until('"error"')
    connection.write(`${rest}GET /livez HTTP/1.1\r\nhost: a\r\n\r\n`)
    const replies = await connection.end()
    expect(replies.match(/HTTP\/1\.1 \d+/g)).toEqual([`HTTP/1.1 ${status}`])
    expect(replies.toLowerCase()).toContain('connection: close')
    expect(acme.requests).toHaveLength(0)
  },
)

test('a request of a known length that is refused keeps its connection', async () => {
  await using scenario = await startScenario(jsonReply())
  const connection = await openConnection(scenario.app.url)
  connection.post({ ...chatRequest, temperature: 9 })
  await connection.until('"error"')
  connection.post(chatRequest)
  const replies = await connection.until('chat.completion')
  expect(replies.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 400', 'HTTP/1.1 200'])
  expect(replies.toLowerCase()).not.toContain('connection: close')
  connection.reset()
})
