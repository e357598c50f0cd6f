import { describe, expect, test } from 'bun:test'
import { streamReply } from '../../support/chat-fixtures.ts'
import { readError } from '../../support/chat-reply.ts'
import { chatRequest, type ScenarioOptions, startScenario } from '../../support/scenario.ts'
import { breakOff, events, json, jsonPieces, reset, type Script } from '../../support/script.ts'

function errorOf(
  status: number,
  message: string,
  rest: object = {},
  headers: Record<string, string> = {},
): Script {
  return json({ error: { message, ...rest } }, { status, headers })
}

/** An error event in a stream that has the status 200. */
function streamError(error: object): Script {
  return events([`data: ${JSON.stringify({ error })}\n\n`])
}

/** What the upstream says, and then the status, the code and the headers that the caller gets. */
type Case = readonly [name: string, script: Script, expected: Expected]
type Expected = {
  readonly status: number
  readonly code: string
  readonly retryAfter?: string
  readonly never?: true
}

const rejected = { status: 400, code: 'upstream_rejected' }
const tooLong = { status: 400, code: 'context_length_exceeded' }
const filtered = { status: 400, code: 'content_filter' }
const badKey = { status: 502, code: 'provider_key_rejected', never: true } as const
const noQuota = { status: 502, code: 'provider_quota_exhausted', never: true } as const
const noModel = { status: 502, code: 'upstream_model_not_found', never: true } as const
const limited = { status: 502, code: 'upstream_rate_limited' }
const broken = { status: 502, code: 'upstream_unavailable' }

const cases: readonly Case[] = [
  ['400', errorOf(400, 'Bad schema.'), rejected],
  ['413', errorOf(413, 'The image is too large.'), rejected],
  ['422', errorOf(422, 'Bad enum.'), rejected],
  ['422 that is not JSON', json('no such field', { status: 422 }), rejected],
  ['400 without a body', json('', { status: 400 }), rejected],
  ['400 that is too long', json('x'.repeat(2 * 1024 * 1024), { status: 400 }), rejected],
  ['400 by code', errorOf(400, 'Too long.', { code: 'context_length_exceeded' }), tooLong],
  ['400 by its message', errorOf(400, "This model's maximum context length is 8192 tokens."), tooLong],
  ['400 by another message', errorOf(400, 'prompt is too long: 210000 tokens > 200000'), tooLong],
  ['400 of a filter', errorOf(400, 'Flagged.', { code: 'content_filter' }), filtered],
  ['401', errorOf(401, 'Incorrect API key provided: sk-12345678.'), badKey],
  ['403', errorOf(403, 'Country not supported.'), badKey],
  ['400 about the key', errorOf(400, 'API key not valid. Please pass a valid API key.'), badKey],
  ['402', errorOf(402, 'Pay.'), noQuota],
  [
    '429 for the quota',
    errorOf(429, 'You exceeded your current quota.', { code: 'insufficient_quota' }),
    noQuota,
  ],
  ['404', errorOf(404, 'Not Found'), noModel],
  ['400 for the model', errorOf(400, 'No.', { code: 'model_not_found' }), noModel],
  ['429', errorOf(429, 'Slow down.'), limited],
  [
    '429 with a retry-after',
    errorOf(429, 'Slow down.', {}, { 'retry-after': '7' }),
    { ...limited, retryAfter: '7' },
  ],
  [
    '429 with a retry-after in milliseconds',
    errorOf(429, 'Slow down.', {}, { 'retry-after-ms': '2500', 'retry-after': '60' }),
    { ...limited, retryAfter: '3' },
  ],
  [
    '429 with a retry-after of an hour',
    errorOf(429, 'Slow.', {}, { 'retry-after': '3600' }),
    { ...limited, retryAfter: '60' },
  ],
  ['408', errorOf(408, 'Late.'), broken],
  ['500', errorOf(500, 'Oh.'), broken],
  ['503 with a retry-after', errorOf(503, 'Oh.', {}, { 'retry-after': '2' }), { ...broken, retryAfter: '2' }],
  ['529', errorOf(529, 'Overloaded.'), broken],
  [
    'the HTML page of a proxy',
    json('<html>502</html>', { status: 502, headers: { 'content-type': 'text/html' } }),
    broken,
  ],
  ['a redirect', json('', { status: 302, headers: { location: 'http://127.0.0.1:1/' } }), broken],
  ['a reset connection', reset, broken],
  ['200 that is not JSON', json('<html>'), broken],
  ['200 with nothing in it', json(''), broken],
  ['200 that breaks off', jsonPieces(['{"choices":['], breakOff), broken],
  ['200 with no choice', json({ choices: [] }), broken],
  ['200 with an error', json({ error: { message: 'Oh.' } }), broken],
  ['200 with an error of status 401', json({ error: { message: 'No.', code: 401 } }), badKey],
  ['200 with an error of status 429', json({ error: { message: 'Slow.', code: 429 } }), limited],
  ['200 with an error of the caller', json({ error: { message: 'Bad.', code: 400 } }), rejected],
  ['a choice that ends with an error', json({ choices: [{ finish_reason: 'error', message: {} }] }), broken],
]

/** The same where a stream was asked for. */
const streamCases: readonly Case[] = [
  ['400', errorOf(400, 'Bad schema.'), rejected],
  ['401', errorOf(401, 'No.'), badKey],
  [
    '429 with a retry-after',
    errorOf(429, 'Slow down.', {}, { 'retry-after': '7' }),
    { ...limited, retryAfter: '7' },
  ],
  ['500', errorOf(500, 'Oh.'), broken],
  ['a reset connection', reset, broken],
  ['an error as its first event', streamError({ message: 'Oh.' }), broken],
  ['an error of status 429 as its first event', streamError({ message: 'Slow.', code: 429 }), limited],
  ['an error of the caller as its first event', streamError({ message: 'Bad.', code: 400 }), rejected],
  ['an error in place of a stream', json({ error: { message: 'Oh.' } }), broken],
  ['no event at all', events([]), broken],
  ['comments and no event', events([': hello\n\n']), broken],
  ['only [DONE]', events(['data: [DONE]\n\n']), broken],
  ['an event that is not JSON', events(['data: <html>\n\n']), broken],
  ['a connection that breaks before the first event', events([': hello\n\n'], breakOff), broken],
]

async function replyTo(script: Script, body: object, options: ScenarioOptions = {}): Promise<Response> {
  await using scenario = await startScenario(script, options)
  const response = await scenario.app.chat({ ...chatRequest, ...body })
  return new Response(await response.arrayBuffer(), response)
}

async function expectRefusal(
  response: Response,
  { status, code, retryAfter, never }: Expected,
): Promise<void> {
  const { headers } = response
  expect(await readError(response)).toEqual({
    status,
    message: expect.stringMatching(/\S/),
    type: status === 400 ? 'invalid_request_error' : 'server_error',
    param: null,
    code,
  })
  expect(headers.get('content-type')).toStartWith('application/json')
  expect(headers.get('x-request-id')).toMatch(/^req_/)
  expect(headers.get('retry-after')).toBe(retryAfter ?? null)
  expect(headers.get('x-should-retry')).toBe(never ? 'false' : null)
}

describe('a client gets the documented error when the provider replies with', () => {
  test.each([...cases])('%s', async (_, script, expected) => {
    await expectRefusal(await replyTo(script, {}), expected)
  })

  test.each([...streamCases])('%s, instead of a stream', async (_, script, expected) => {
    await expectRefusal(await replyTo(script, { stream: true }), expected)
  })

  test('a refused connection', async () => {
    const acme = { base_url: 'http://127.0.0.1:1/v1' }
    await expectRefusal(await replyTo(reset, {}, { acme }), broken)
  })
})

describe('the error message of the provider', () => {
  test('reaches the client where the client is at fault', async () => {
    const error = await readError(await replyTo(errorOf(400, 'Bad schema for read_level.'), {}))
    expect(error.message).toBe('Bad schema for read_level.')
  })

  test.each([401, 402, 404, 429, 500])('is hidden where the client is not at fault: %d', async (status) => {
    const error = await readError(await replyTo(errorOf(status, 'Org org-ACME at 10.0.0.5 is poor.'), {}))
    expect(error.message).not.toMatch(/org-ACME|10\.0\.0\.5|poor|127\.0\.0\.1/)
    expect(error.message).toContain('acme')
  })

  test('reaches the client without keys, organizations and addresses', async () => {
    await using scenario = await startScenario([])
    const { host } = new URL(scenario.acme.url)
    scenario.acme.respondWith(
      errorOf(400, `Key sk-proj-abcdefgh12 of org-ACME9 at ${host} sent a bad field.`),
    )
    const { message } = await readError(await scenario.app.chat(chatRequest))
    expect(message).toMatch(/^Key \S+ of \S+ at \S+ sent a bad field\.$/)
    expect(message).not.toMatch(/abcdefgh12|ACME9|127\.0\.0\.1/)
  })
})

describe('the param of an error of the provider', () => {
  const sent = { temperature: 0.5, max_tokens: 100, secret_plan: 'x', 'read level': 1 }

  test.each([
    ['a field of the request', 'temperature', 'temperature'],
    ['a path in dots', 'messages.0.content', 'messages'],
    ['a path in brackets', 'messages[0].content', 'messages'],
    ['an extra field of the request', 'secret_plan', 'secret_plan'],
    ['the name of the provider for a field', 'max_completion_tokens', null],
    ['a field that the request does not have', 'top_p', null],
    ['a field of every object', 'constructor', null],
    ['a text', 'read level', null],
    ['a field with a text', 'messages: How high is it?', null],
    ['a very long name', 'a'.repeat(2000), null],
    ['no text', { temperature: 1 }, null],
    ['nothing', null, null],
  ])('reaches the client where it is one that the client has sent: %s', async (_, param, expected) => {
    const script = errorOf(400, 'Unsupported value.', { param })
    const request = { ...sent, ['a'.repeat(2000)]: 1 }
    expect(await readError(await replyTo(script, request))).toMatchObject({ ...rejected, param: expected })
  })

  test('reaches the client from a stream, too', async () => {
    const script = streamError({ message: 'Bad.', code: 400, param: 'temperature' })
    const error = await readError(await replyTo(script, { ...sent, stream: true }))
    expect(error).toMatchObject({ ...rejected, param: 'temperature' })
  })

  test.each([401, 429, 500])('is hidden where the client is not at fault: %d', async (status) => {
    const error = await readError(await replyTo(errorOf(status, 'No.', { param: 'temperature' }), sent))
    expect(error.param).toBeNull()
  })
})

describe('the error message of the gateway says that', () => {
  const reasons: readonly (readonly [reason: string, script: Script, stream: boolean])[] = [
    ['it returned status 500', errorOf(500, 'Oh.'), false],
    ['it returned status 502', json('<html>', { status: 502 }), true],
    ['the connection was closed before its response began', reset, false],
    ['the connection was closed before its response was complete', jsonPieces(['{"ch'], breakOff), false],
    ['the connection was closed before its response was complete', events([': hello\n\n'], breakOff), true],
    ['its response ended before it was complete', events([]), true],
    ['its response is not valid JSON', json('<html>'), false],
    ['its response has no content', json({ choices: [] }), false],
    ['it reported an error in its response', json({ error: { message: 'Oh.' } }), false],
    ['it reported status 503 in its response', streamError({ message: 'Oh.', code: 503 }), true],
  ]

  test.each([...reasons])('%s', async (reason, script, stream) => {
    const { message } = await readError(await replyTo(script, { stream }))
    expect(message).toBe(`The provider acme failed: ${reason}.`)
  })
})

test('an enabled model whose provider has no key fails with that reason and x-should-retry: false', async () => {
  await using scenario = await startScenario(streamReply(), {
    models: [{ slug: 'openai/keyless', enabled: true, routes: [{ provider: 'openai', model: 'x' }] }],
  })
  const response = await scenario.app.chat({ ...chatRequest, model: 'openai/keyless' })
  expect(response.headers.get('x-should-retry')).toBe('false')
  expect(await readError(response)).toMatchObject({
    status: 502,
    code: 'provider_key_missing',
    message: expect.stringContaining('OPENAI_API_KEY'),
  })
})
