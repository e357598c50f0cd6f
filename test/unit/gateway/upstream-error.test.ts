import { describe, expect, test } from 'bun:test'
import type { ProviderError } from '../../../src/domain/generation/events.ts'
import { isRouteFailure, isTimeout, isUnreachable } from '../../../src/gateway/routing/retry.ts'
import { connectionTimedOut, scrub, toApiError } from '../../../src/gateway/streams/upstream-error.ts'
import { connectionError } from '../../../src/gateway/streams/upstream-request.ts'
import { provider } from './support/model-fixtures.ts'

function codeOf(complaint: ProviderError): string | null {
  return toApiError(complaint, 'acme', 'acme.example').code
}

test.each(['EMFILE', 'ENFILE'])(
  '%s is an outage of the gateway, and says nothing of the provider',
  (code) => {
    const error = connectionError(provider('acme'), Object.assign(new Error('failed'), { code }))
    expect(error).toMatchObject({ status: 503, code: 'service_unavailable' })
    expect(error.message).not.toContain('acme')
    expect([isRouteFailure(error), isUnreachable(error)]).toEqual([false, false])
  },
)

describe('the message of a 400 determines its error code', () => {
  const words: readonly (readonly [message: string, code: string])[] = [
    [
      "This model's maximum context length is 128000 tokens. However, you requested 130000.",
      'context_length_exceeded',
    ],
    ['prompt is too long: 213462 tokens > 200000 maximum', 'context_length_exceeded'],
    [
      'The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).',
      'context_length_exceeded',
    ],
    ['Input is longer than the context window.', 'context_length_exceeded'],
    [
      'The response was filtered due to the prompt triggering our content management policy.',
      'content_filter',
    ],
    ['Blocked by Responsible AI.', 'content_filter'],
    ["The model 'gpt-9' does not exist", 'upstream_model_not_found'],
    ['Incorrect API key provided.', 'provider_key_rejected'],
    ['API key not valid. Please pass a valid API key.', 'provider_key_rejected'],
    ['API key expired. Please renew the API key.', 'provider_key_rejected'],
    ['Invalid API key in the request.', 'provider_key_rejected'],
    ["Invalid schema for function 'read_level'.", 'upstream_rejected'],
    ["Invalid schema for function 'read_api_key'.", 'upstream_rejected'],
    ["Unknown property 'api key' of the tool 'invalid_api_key'.", 'upstream_rejected'],
    ["tools.0.name: 'API key not valid' is not a name.", 'upstream_rejected'],
    ["Invalid schema for function 'context_window': it has no type.", 'upstream_rejected'],
    ['Unknown field "context length" in `content_filter`.', 'upstream_rejected'],
    ["There is no function 'model_not_found'.", 'upstream_rejected'],
    ["This model's maximum context length is 8192 tokens, and you've sent more.", 'context_length_exceeded'],
    ["The model 'river-9' does not exist.", 'upstream_model_not_found'],
    ['The total length of all messages is too long.', 'context_length_exceeded'],
    [
      'Input Tokens Exceeded: Number of input tokens exceeds maximum length. Please update the input to try again.',
      'context_length_exceeded',
    ],
    ['Input is too long for requested model.', 'context_length_exceeded'],
    [
      'input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000, decrease input length',
      'context_length_exceeded',
    ],
    [
      "This model's maximum prompt length is 131072 but the request contains 537812 tokens.",
      'context_length_exceeded',
    ],
    [
      'The decoder prompt (length 9000) is longer than the maximum model length of 8192.',
      'context_length_exceeded',
    ],
    ['Prompt exceeds max length', 'context_length_exceeded'],
    ['The name of the function is too long.', 'upstream_rejected'],
    ['metadata: the value is too long: at most 512 characters.', 'upstream_rejected'],
    ["Unsupported parameter: 'max_tokens' is not supported with this model.", 'upstream_rejected'],
    ['The token count must be a number.', 'upstream_rejected'],
  ]

  test.each([...words])('%s', (message, code) => {
    expect(codeOf({ message, status: 400 })).toBe(code)
  })

  test.each([...words])('the message of a 500 does not determine its error code: %s', (message) => {
    expect(codeOf({ message, status: 500 })).toBe('upstream_unavailable')
  })
})

test.each([
  [{ code: 'context_length_exceeded' }, 'context_length_exceeded'],
  [{ type: 'too_many_prompt_tokens' }, 'context_length_exceeded'],
  [{ code: 'too_many_prompt_tokens' }, 'context_length_exceeded'],
  [{ type: 'exceed_context_size_error' }, 'context_length_exceeded'],
  [{ code: 'content_filter' }, 'content_filter'],
  [{ code: 'model_not_found' }, 'upstream_model_not_found'],
  [{ code: 'invalid_api_key' }, 'provider_key_rejected'],
  [{ code: 'API_KEY_INVALID', type: 'INVALID_ARGUMENT' }, 'provider_key_rejected'],
  [{ type: 'invalid_request_error' }, 'upstream_rejected'],
])('the code and the type of a 400 determine its error code: %j', (facts, code) => {
  expect(codeOf({ message: 'No.', status: 400, ...facts })).toBe(code)
})

test.each([
  [{ code: 'insufficient_quota' }, 'provider_quota_exhausted'],
  [{ type: 'credit_balance_exhausted' }, 'provider_quota_exhausted'],
  [{ code: 'organization_spend_limit_exceeded' }, 'provider_quota_exhausted'],
  [
    { message: 'You exceeded your current quota, check your billing details.', type: 'RESOURCE_EXHAUSTED' },
    'upstream_rate_limited',
  ],
  [{ code: 'rate_limit_exceeded' }, 'upstream_rate_limited'],
  [{ message: 'Quota of requests per minute.' }, 'upstream_rate_limited'],
])('a 429 is an exceeded quota or an exceeded rate limit: %j', (facts, code) => {
  expect(codeOf({ message: 'No.', status: 429, ...facts })).toBe(code)
})

test('a provider error without a status is retryable', () => {
  const error = toApiError({ message: 'No.' }, 'acme', 'acme.example')
  expect([error.status, error.code, error.headers['x-should-retry']]).toEqual([
    502,
    'upstream_unavailable',
    undefined,
  ])
})

test.each([401, 402, 404, 429, 500])('only the message of a client error is passed on: %d', (status) => {
  const error = toApiError({ message: 'Secret words.', status }, 'acme', 'acme.example')
  expect(JSON.stringify(error.toBody())).not.toContain('Secret')
  expect(error.message).toContain('acme')
})

test.each([
  ['ECONNREFUSED', true],
  ['ENOTFOUND', true],
  ['EAI_AGAIN', true],
  ['EHOSTUNREACH', true],
  ['EPROTO', true],
  ['ERR_TLS_CERT_ALTNAME_INVALID', true],
  ['DEPTH_ZERO_SELF_SIGNED_CERT', true],
  ['CERT_HAS_EXPIRED', true],
  ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', true],
  ['ECONNRESET', false],
  ['InvalidHTTPResponse', false],
  [undefined, false],
])('a connection error with the code %s is known to have sent no request: %p', (code, expected) => {
  const error = connectionError(provider('acme'), Object.assign(new Error('At 10.0.0.5.'), { code }))
  expect([error.code, isUnreachable(error)]).toEqual(['upstream_unavailable', expected])
  expect(error.message).not.toContain('10.0.0.5')
})

test('a connection that times out is both a timeout and known to have sent no request', () => {
  const error = connectionTimedOut('acme')
  expect([error.code, isTimeout(error), isUnreachable(error)]).toEqual(['upstream_timeout', true, true])
})

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

test.each([
  ['The key 0F9A1B2C3D4E5F60718293A4B5C6D7E8 is disabled.', 'The key [key] is disabled.'],
  ['The key 0f9a1b2c3d4e5f60… is disabled.', 'The key [key]… is disabled.'],
  ['Key …93a4b5c6d7e8, or 0f9a1b2c3d4e-5f60718293a4', 'Key …[key], or [key]-[key]'],
  ['0f9a1b2c3d4e0f9a1b2c3d4e', '[key][key]'],
  [
    'The key 0f9a1b2c3d4 is too short to be one, İ is not.',
    'The key 0f9a1b2c3d4 is too short to be one, İ is not.',
  ],
])('parts of a key that was sent are redacted, in any case: %s', (message, expected) => {
  expect(scrub(message, host, ['0f9a1b2c3d4e5f60718293a4b5c6d7e8'])).toBe(expected)
})

test('without a host nothing is redacted as one, and a long message is truncated', () => {
  expect(scrub('all of it', '')).toBe('all of it')
  expect(scrub('a b '.repeat(10_000), host)).toHaveLength(1000)
})
