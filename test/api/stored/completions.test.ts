import { describe, expect, test } from 'bun:test'
import { chatOutput, streamReply, jsonReply } from '../../support/chat-fixtures.ts'
import { readError, readStreamed } from '../../support/chat-reply.ts'
import { chatRequest, startScenario } from '../../support/scenario.ts'
import {
  listCompletionIds,
  retrieveCompletion,
  storeCompletion,
  storedPath,
} from '../../support/stored-completions.ts'
import { startOnce } from '../../support/start-once.ts'

const metadata = { topic: 'rivers', level: 4, deep: { a: [1, null] }, none: null }

describe('a completion with store: true', () => {
  test('is retrieved as it was sent, with its metadata', async () => {
    await using scenario = await startScenario(jsonReply())
    const received = await storeCompletion(scenario.app, { metadata })
    expect(received).not.toHaveProperty('metadata')
    const reply = await scenario.app.request(`${storedPath}/${received.id}`)
    expect(reply.headers.get('content-type')).toBe('application/json')
    expect(reply.headers.get('x-request-id')).toStartWith('req_')
    expect(await reply.json()).toEqual({ ...received, metadata })
  })

  test.each([[{}], [{ metadata: null }], [{ metadata: {} }]])('with %j has empty metadata', async (more) => {
    await using scenario = await startScenario(jsonReply())
    const received = await storeCompletion(scenario.app, more)
    expect(await retrieveCompletion(scenario.app, received.id)).toEqual({ ...received, metadata: {} })
  })

  test('has the tool calls, reasoning, choices and warnings of its reply', async () => {
    const call = { id: 'call_1', name: 'height', arguments: ['{"at":', '"bridge"}'] }
    const choices = [
      { reasoning: ['The gauge.'], calls: [call], finish: 'tool_calls' },
      { text: ['Four.'], finish: 'length' },
    ]
    await using scenario = await startScenario(jsonReply({ choices }))
    const received = await storeCompletion(scenario.app, { n: 2, logprobs: true, metadata })
    expect(received.choices.map(({ finish_reason }) => finish_reason)).toEqual(['tool_calls', 'length'])
    expect(received.warnings).toHaveLength(2)
    expect(await retrieveCompletion(scenario.app, received.id)).toEqual({ ...received, metadata })
  })

  test('that was streamed equals one that was not, under the id of its chunks', async () => {
    await using scenario = await startScenario([jsonReply(), streamReply()])
    const { app } = scenario
    const received = await storeCompletion(app, { metadata })
    const stream = await readStreamed(
      await app.chat({
        ...chatRequest,
        store: true,
        metadata,
        stream: true,
        stream_options: { include_usage: true },
      }),
    )
    expect(stream.done).toBe(true)
    const [id, ...others] = new Set(stream.chunks.map((chunk) => chunk.id))
    expect(others).toEqual([])
    const created = stream.chunks[0]?.created
    expect(await retrieveCompletion(app, String(id))).toEqual({ ...received, id, created, metadata })
  })

  test('that was streamed without usage has the estimate, and a warning', async () => {
    await using scenario = await startScenario([
      jsonReply(chatOutput({}, { usage: undefined })),
      streamReply(chatOutput({}, { usage: undefined })),
    ])
    const received = await storeCompletion(scenario.app)
    expect(received.warnings).toHaveLength(1)
    const stream = await readStreamed(await scenario.app.chat({ ...chatRequest, store: true, stream: true }))
    const { usage, warnings, choices } = received
    expect(await retrieveCompletion(scenario.app, String(stream.chunks[0]?.id))).toMatchObject({
      usage,
      warnings,
      choices,
    })
  })

  test('has the slug of its model also where an alias was requested', async () => {
    await using scenario = await startScenario(jsonReply(), { model: { aliases: ['stream'] } })
    const received = await storeCompletion(scenario.app, { model: 'stream' })
    expect(await retrieveCompletion(scenario.app, received.id)).toMatchObject({ model: 'acme/river' })
  })
})

test.each([[{}], [{ store: false }], [{ store: null }], [{ metadata }]])(
  'a completion with %j is not stored',
  async (more) => {
    await using scenario = await startScenario([jsonReply(), streamReply()])
    const { app } = scenario
    const { id } = (await (await app.chat({ ...chatRequest, ...more })).json()) as { id: string }
    const { chunks } = await readStreamed(await app.chat({ ...chatRequest, ...more, stream: true }))
    for (const received of [id, String(chunks[0]?.id)])
      expect((await app.request(`${storedPath}/${received}`)).status).toBe(404)
    expect(await listCompletionIds(app)).toEqual([])
  },
)

describe('an update of a stored completion', () => {
  test('replaces all of its metadata, and changes nothing else', async () => {
    await using scenario = await startScenario(jsonReply())
    const { app } = scenario
    const received = await storeCompletion(app, { metadata })
    const update = { metadata: { stage: 'live' }, model: 'other/model', choices: [], usage: null }
    const reply = await app.request(`${storedPath}/${received.id}`, { body: update })
    expect([reply.status, await reply.json()]).toEqual([200, { ...received, metadata: { stage: 'live' } }])
    expect(await retrieveCompletion(app, received.id)).toEqual({ ...received, metadata: { stage: 'live' } })
    expect(await listCompletionIds(app, 'metadata[topic]=rivers')).toEqual([])
    expect(await listCompletionIds(app, 'metadata[stage]=live')).toEqual([received.id])
    expect(await listCompletionIds(app, 'metadata[stage]=live&model=acme/river')).toEqual([received.id])
  })

  test('may use keys that are special to JavaScript', async () => {
    await using scenario = await startScenario(jsonReply())
    const received = await storeCompletion(scenario.app)
    const body = '{"metadata":{"__proto__":"a","constructor":"b","":"c"}}'
    const reply = await scenario.app.request(`${storedPath}/${received.id}`, { method: 'POST', body })
    expect(await reply.text()).toContain(body.slice(1))
    for (const pair of ['[__proto__]=a', '[constructor]=b', '[]=c'])
      expect(await listCompletionIds(scenario.app, `metadata${pair}`)).toEqual([received.id])
  })

  const unchanged = startOnce(() => startScenario(jsonReply()))

  test.each([
    [{}, 'missing_required_parameter'],
    [{ metadata: null }, 'invalid_type'],
    [{ metadata: 'x' }, 'invalid_type'],
    [{ metadata: ['x'] }, 'invalid_type'],
  ])('with %j is rejected', async (body, code) => {
    const { app } = await unchanged()
    const received = await storeCompletion(app, { metadata })
    const reply = await app.request(`${storedPath}/${received.id}`, { body })
    expect(await readError(reply)).toMatchObject({ status: 400, code, param: 'metadata' })
    expect(await retrieveCompletion(app, received.id)).toMatchObject({ metadata })
  })
})

describe('a deletion of a stored completion', () => {
  test.each([['application/json'], [null]])(
    'with content type %p and no body succeeds once',
    async (type) => {
      await using scenario = await startScenario(jsonReply())
      const { app } = scenario
      const [gone, stays] = [
        await storeCompletion(app, { metadata }),
        await storeCompletion(app, { metadata }),
      ]
      const remove = () =>
        app.request(`${storedPath}/${gone.id}`, { method: 'DELETE', headers: { 'content-type': type } })
      const reply = await remove()
      expect(reply.status).toBe(200)
      expect(await reply.json()).toEqual({ id: gone.id, object: 'chat.completion.deleted', deleted: true })
      expect((await remove()).status).toBe(404)
      expect(await listCompletionIds(app)).toEqual([stays.id])
      expect(await listCompletionIds(app, 'metadata[topic]=rivers')).toEqual([stays.id])
    },
  )
})

describe('a completion that does not exist', () => {
  const ways = [
    ['GET', '', undefined],
    ['POST', '', { metadata: {} }],
    ['DELETE', '', undefined],
    ['GET', '/messages', undefined],
  ] as const

  const unchanged = startOnce(() => startScenario(jsonReply()))

  test.each([...ways])('is a 404: %s …%s', async (method, rest, body) => {
    const scenario = await unchanged()
    const unknown = [
      'chatcmpl-1',
      'chatcmpl-01a1fc0ac59b71dda2489e80f96c70d0',
      'x',
      "'",
      'é%20',
      '0'.repeat(500),
    ]
    for (const id of unknown) {
      const reply = await scenario.app.request(`${storedPath}/${id}${rest}`, { method, body })
      expect(await readError(reply)).toEqual({
        status: 404,
        type: 'invalid_request_error',
        param: null,
        code: null,
        message: `Completion with id '${decodeURIComponent(id)}' not found.`,
      })
    }
    const unreadable = await scenario.app.request(`${storedPath}/%FF${rest}`, { method, body })
    expect(unreadable.status).toBe(404)
    expect(scenario.app.lines).toEqual([])
  })

  test('a method that a stored completion does not support is a 405', async () => {
    const scenario = await unchanged()
    const reply = await scenario.app.request(`${storedPath}/chatcmpl-1`, { method: 'PATCH', body: {} })
    expect(reply.status).toBe(405)
  })
})
