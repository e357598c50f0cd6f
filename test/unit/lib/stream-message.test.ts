import { expect, test } from 'bun:test'
import type { ErrorCode } from '../../../src/lib/errors/error-codes.ts'
import { streamMessage } from '../../../src/lib/errors/stream-message.ts'

/** Of the words that pi and other coding agents look for in the message of a failed stream, before they repeat the request. */
const retried = /overloaded|rate.?limit|\b50[0-4]\b|service.?unavailable|server.?error|connection.?error/i

const sentence = 'The provider acme failed: it reported an error in its response.'

test.each<ErrorCode>([
  'upstream_unavailable',
  'upstream_timeout',
  'internal_error',
  'interrupted',
  'service_unavailable',
])('the message of %s in a stream has words after which agents send the request again', (code) => {
  expect(sentence).not.toMatch(retried)
  expect(streamMessage(sentence, code)).toMatch(retried)
  expect(streamMessage(sentence, code)).toEndWith('in its response (server error).')
})

test.each<ErrorCode | null>(['upstream_rejected', 'provider_key_rejected', 'insufficient_balance', null])(
  'the message of %s in a stream is that of any other response',
  (code) => {
    expect(streamMessage(sentence, code)).toBe(sentence)
  },
)

test('the words end the first sentence of the message', () => {
  const message = 'The gateway stopped before the response was complete. Try again.'
  const expected = 'The gateway stopped before the response was complete (server error). Try again.'
  expect(streamMessage(message, 'interrupted')).toBe(expected)
  expect(streamMessage('The pump v1.2 failed', 'internal_error')).toBe('The pump v1.2 failed (server error).')
})
