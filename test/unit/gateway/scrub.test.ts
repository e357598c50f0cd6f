import { expect, test } from 'bun:test'
import { scrub } from '../../../src/gateway/streams/upstream-error.ts'

const host = 'llm.internal:8000'

test.each([
  ['Incorrect API key provided: sk-proj-abc123def456.', ['abc123def456']],
  ['Incorrect API key provided: sk-a1****************b2c3. See the docs.', ['b2c3']],
  ['Key gsk_abcdefgh12345678 is bad', ['abcdefgh12345678']],
  ['Key xai-abcdefgh12345678 is bad', ['abcdefgh12345678']],
  ['API key not valid: AIzaSyA1234567890abcdef', ['SyA1234567890abcdef']],
  ['sk-ant-api03-AbCdEf_123-xyz was refused', ['AbCdEf_123']],
  ['Quota of org-AbC123 in proj_XyZ789', ['AbC123', 'XyZ789']],
  [`POST http://${host}/v1/chat/completions failed`, ['llm.internal', '8000']],
  [`${host} and ${host}`, ['llm.internal']],
])('secrets in a provider message are redacted: %s', (message, secrets) => {
  const text = scrub(message, host)
  for (const secret of secrets) expect(text).not.toContain(secret)
  expect(text.length).toBeGreaterThan(5)
})

test.each([
  "Unsupported value: 'temperature' does not support 0.5 with this model.",
  'The image at messages[0].content[1] is too large.',
  'max_tokens is too large: 100000. This model supports at most 16384 completion tokens.',
  'Sky-high risk-taking tasks are fine; organise the project.',
])('useful parts of a provider message are kept: %s', (message) => {
  expect(scrub(message, host)).toBe(message)
})

test('a key that was sent is redacted whatever its format, also where a long message is truncated within it', () => {
  const key = '0f9a1b2c3d4e5f60718293a4b5c6d7e8'
  expect(scrub(`The subscription ${key} is disabled.`, host, [key])).toBe(
    'The subscription [key] is disabled.',
  )
  expect(scrub(`${'x'.repeat(990)} ${key}`, host, [key])).not.toContain(key.slice(0, 4))
})

test('without a host nothing is redacted as one, and a long message is truncated', () => {
  expect(scrub('all of it', '')).toBe('all of it')
  expect(scrub('a b '.repeat(10_000), host)).toHaveLength(1000)
})
