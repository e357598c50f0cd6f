import { expect, test } from 'bun:test'
import { startApp } from '../../support/app.ts'
import { openConnection } from '../../support/connection.ts'

test.each(['/v1/responses', '/v1/responses/', '/v1/responses?stream=true'])(
  'an upgrade to WebSocket is a 426 that closes the connection: %s',
  async (path) => {
    await using app = await startApp()
    const connection = await openConnection(app.url)
    const upgrade = 'connection: Upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13'
    connection.write(
      `GET ${path} HTTP/1.1\r\nhost: localhost\r\n${upgrade}\r\nsec-websocket-key: ${btoa('1234567890123456')}\r\n\r\n`,
    )
    const reply = await connection.end()
    const [head = '', body = ''] = reply.split('\r\n\r\n')
    expect(head).toStartWith('HTTP/1.1 426 ')
    expect(head.toLowerCase()).toContain('\r\nconnection: close')
    expect(JSON.parse(body)).toEqual({
      error: {
        message: 'WebSocket is not supported. Send the request by HTTP.',
        type: 'invalid_request_error',
        param: null,
        code: 'upgrade_not_supported',
      },
    })
  },
)

test('a request that only offers another version of HTTP is served', async () => {
  await using app = await startApp()
  const connection = await openConnection(app.url)
  connection.write(
    'GET /livez HTTP/1.1\r\nhost: localhost\r\nconnection: close, upgrade\r\nupgrade: h2c\r\n\r\n',
  )
  expect(await connection.end()).toStartWith('HTTP/1.1 200 ')
})
