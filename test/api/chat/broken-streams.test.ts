import { describe, expect, test } from 'bun:test'
import { readPieces } from '../../support/body-reader.ts'
import { chunks, delta, doneFrame, chatOutput, streamReply, jsonReply } from '../../support/chat-fixtures.ts'
import { joinChunks, readStreamed } from '../../support/chat-reply.ts'
import { chatRequest, type ScenarioOptions, startScenario } from '../../support/scenario.ts'
import { abort } from '../../reliability/faults/support/raw-script.ts'
import { breakOff, type End, finish, hang, type Piece } from '../../support/script.ts'

const opening = [delta({ role: 'assistant', content: '' }), delta({ content: 'It is ' })]
const error = (rest: object = {}) => ({
  error: { message: 'Key sk-abcdefghij of org-ACME9 failed.', ...rest },
})

/** What comes after the first words and breaks the stream, and the code of the error that the caller reads. */
type Broken = readonly [name: string, code: string, pieces: readonly (object | Piece)[], end?: End]

const broken: readonly Broken[] = [
  ['an error event', 'upstream_unavailable', [error()]],
  ['an error event and [DONE]', 'upstream_unavailable', [error(), doneFrame]],
  ['an error event and more text', 'upstream_unavailable', [error(), delta({ content: 'x' }, 'stop')]],
  ['an error of status 429', 'upstream_rate_limited', [error({ code: 429 })]],
  ['an error of status 401', 'provider_key_rejected', [error({ code: 401 })]],
  ['an error of the caller', 'upstream_rejected', [error({ code: 400 })]],
  ['a choice that ends with an error', 'upstream_unavailable', [delta({}, 'error'), doneFrame]],
  ['the end of the body', 'upstream_unavailable', []],
  ['[DONE] without a finish reason', 'upstream_unavailable', [doneFrame]],
  ['a connection that breaks', 'upstream_unavailable', [], breakOff],
  ['half a frame', 'upstream_unavailable', ['data: {"choices":[{"index":0,"del'], breakOff],
  ['an event that is not JSON', 'upstream_unavailable', ['data: <html>\n\n']],
  [
    'a second choice that has no end',
    'upstream_unavailable',
    [{ choices: [{ index: 1, delta: { content: 'b' } }] }, delta({}, 'stop'), doneFrame],
  ],
]

/** What the caller reads of it, which is never a status that no provider has sent. */
const reasons: readonly (readonly [reason: string, pieces: readonly (object | Piece)[], end: End])[] = [
  ['its response ended before it was complete', [], finish],
  ['its response ended before it was complete', [doneFrame], finish],
  ['its response ended before it was complete', ['data: {"choices":[{"index":0,"del'], finish],
  ['the connection was closed before its response was complete', [], breakOff],
  ['the connection was closed before its response was complete', [], abort],
  ['the connection was closed before its response was complete', ['data: {"choices":[{"del'], breakOff],
  ['its response contains invalid data', ['data: <html>\n\n'], finish],
  ['it reported an error in its response', [error()], finish],
  ['it reported status 503 in its response', [error({ code: 503 })], finish],
  ['it ended its response with error', [delta({}, 'error'), doneFrame], finish],
]

/** All of a row: what a row leaves out, the test runner fills with a callback of its own. */
function withEnd([name, code, pieces, end = finish]: Broken): Required<Broken> {
  return [name, code, pieces, end]
}

/** The reply to a stream that goes on like this once its first words have reached the caller. */
async function replyTo(
  rest: readonly (object | Piece)[],
  end?: End,
  options: ScenarioOptions = {},
  body = {},
) {
  const received = Promise.withResolvers<void>()
  await using scenario = await startScenario(chunks([...opening, received.promise, ...rest], end), options)
  const response = await scenario.app.chat({ ...chatRequest, stream: true, ...body })
  const copy = response.clone()
  await readPieces(copy).until('It is ')
  received.resolve()
  const reply = await readStreamed(response)
  const requested = [scenario.acme.requests.length, scenario.other.requests.length]
  return { ...reply, lines: scenario.app.lines, asked: requested }
}

describe('a stream that breaks after its first tokens', () => {
  test.each(broken.map(withEnd))(
    'ends with an error and never with [DONE]: %s',
    async (_, code, rest, end) => {
      const reply = await replyTo(rest, end)
      expect(reply.status).toBe(200)
      expect(joinChunks(reply.chunks)[0]).toMatchObject({ text: 'It is ', finish: null })
      expect(reply.error).toEqual({
        message: expect.stringMatching(/\S/),
        type: code === 'upstream_rejected' ? 'invalid_request_error' : 'server_error',
        param: null,
        code,
      })
      expect(reply.done).toBe(false)
      expect(reply.text).not.toMatch(/\[DONE\]|"finish_reason":"|abcdefghij|ACME9/)
    },
  )

  test.each([...reasons])(
    'reports the reason, and that it is a server error: %s',
    async (reason, rest, end) => {
      const { error, lines } = await replyTo(rest, end)
      expect(error?.message).toBe(`The provider acme failed: ${reason} (server error).`)
      expect(lines.join('')).not.toMatch(/127\.0\.0\.1|abcdefghij|ACME9/)
    },
  )

  test('reports that it is too large without the words after which agents send a request again', async () => {
    const { error } = await replyTo([`data: ${'{"a":'.repeat(15_000)}\n\n`], hang)
    expect(error?.message).toBe('The provider acme failed: its response is too large to be read.')
  })

  test('reports no usage, even if it was requested', async () => {
    const { text } = await replyTo([], breakOff, {}, { stream_options: { include_usage: true } })
    expect(text).toContain('"error"')
    expect(text).not.toContain('"usage":{')
  })

  test('is not retried at this or another provider', async () => {
    const options = { settings: { retries: { attempts: 2 } }, other: [streamReply()] }
    expect((await replyTo([], breakOff, options)).asked).toEqual([1, 0])
  })

  test('is logged once, with the request id of its reply', async () => {
    const { lines, headers } = await replyTo([], breakOff)
    expect(lines.map((line) => JSON.parse(line))).toEqual([
      expect.objectContaining({
        level: 'error',
        request: headers.get('x-request-id'),
        status: 502,
        code: 'upstream_unavailable',
      }),
    ])
  })
})

describe('a stream of the provider that is complete', () => {
  test('needs no [DONE] once every choice has its finish reason', async () => {
    const { done, chunks: received } = await replyTo([delta({}, 'stop')])
    expect(done).toBe(true)
    expect(joinChunks(received)[0]?.finish).toBe('stop')
  })

  test('ends at [DONE], although the provider never closes the body', async () => {
    const { done, error } = await replyTo([delta({}, 'stop'), doneFrame], hang)
    expect([done, error]).toEqual([true, undefined])
  })

  test('may carry an empty error field', async () => {
    const { done } = await replyTo([{ ...delta({}, 'stop'), error: null }, doneFrame])
    expect(done).toBe(true)
  })

  test('writes nothing to the log', async () => {
    expect((await replyTo([delta({}, 'stop'), doneFrame])).lines).toEqual([])
  })

  test('is not read beyond [DONE]', async () => {
    const { text, done } = await replyTo([delta({}, 'stop'), doneFrame, delta({ content: 'late' })])
    expect(text).not.toContain('late')
    expect(done).toBe(true)
  })
})

test('[DONE] without a finish reason ends the stream of a provider known to omit finish reasons', async () => {
  const provider = { kind: 'snowflake' }
  const { done, chunks: received } = await replyTo([doneFrame], finish, { provider })
  expect(joinChunks(received)[0]).toMatchObject({ text: 'It is ', finish: 'stop' })
  expect(done).toBe(true)
})

test('a complete reply without a finish reason has the finish reason stop', async () => {
  await using scenario = await startScenario(jsonReply(chatOutput({ finish: undefined })))
  const reply = (await (await scenario.app.chat(chatRequest)).json()) as {
    choices: { finish_reason: string }[]
  }
  expect(reply.choices[0]?.finish_reason).toBe('stop')
})
