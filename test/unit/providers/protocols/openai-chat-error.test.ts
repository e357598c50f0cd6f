import { expect, test } from 'bun:test'
import type { ProviderError } from '../../../../src/domain/generation/events.ts'
import { parseError } from '../../../../src/providers/protocols/error.ts'

const extra = { type: 'extra_forbidden', loc: ['body', 'n'], msg: 'Extra inputs are not permitted' }
const raw = '{"error":{"message":"The engine is full."}}'
const details = [{ '@type': 'RetryInfo', retryDelay: '21s' }]

test.each<[string, unknown, Partial<ProviderError>]>([
  [
    'OpenAI',
    { error: { message: 'No.', type: 'tokens', code: 'rate' } },
    { message: 'No.', type: 'tokens', code: 'rate' },
  ],
  ['a sentence', { error: 'No such model.' }, { message: 'No such model.' }],
  ['xAI', { code: 'Client error', error: 'Bad key.' }, { message: 'Bad key.', code: 'Client error' }],
  ['a message', { message: 'No.' }, { message: 'No.' }],
  ['a detail', { detail: 'Unauthorized' }, { message: 'Unauthorized' }],
  [
    'Mistral',
    { object: 'error', message: { detail: [extra] } },
    { message: 'n: Extra inputs are not permitted' },
  ],
  ['old vLLM', { object: 'error', message: 'No.', code: 404 }, { message: 'No.', status: 404 }],
  ['a status as text', { error: { message: 'No.', code: '401' } }, { status: 401, code: undefined }],
  [
    'Azure',
    { error: { message: 'No.', code: 'content_filter', status: 400 } },
    { code: 'content_filter', status: 400 },
  ],
  ['Groq in a stream', { error: { message: 'No.', status_code: 400 } }, { status: 400 }],
  [
    'a router',
    { error: { message: 'Provider returned error', metadata: { raw } } },
    { message: 'The engine is full.' },
  ],
  ['a list', [{ error: { message: 'Slow down.', details } }], { message: 'Slow down.', retryAfter: 21 }],
  ['text', 'upstream connect error', { message: 'upstream connect error' }],
  ['a page', '<html>Bad Gateway</html>', { message: 'The provider gave no reason.' }],
])('the error body of %s is parsed', (_name, body, expected) => {
  expect(parseError(body)).toMatchObject(expected)
})
