import { describe, expect, test } from 'bun:test'
import { said, streamed, whole } from '../support/chat-answers.ts'
import { readError, readStreamed } from '../support/chat-reply.ts'
import { question, startScenario } from '../support/scenario.ts'
import { idsListed, readStored, store, storedPath } from '../support/stored.ts'

const metadata = { topic: 'rivers', level: 4, deep: { a: [1, null] }, none: null }

describe('a completion with store: true', () => {
  test('is retrieved as it was sent, with its metadata', async () => {
    await using scenario = await startScenario(whole())
    const told = await store(scenario.app, { metadata })
    expect(told).not.toHaveProperty('metadata')
    const reply = await scenario.app.request(`${storedPath}/${told.id}`)
    expect(reply.headers.get('content-type')).toBe('application/json')
    expect(reply.headers.get('x-request-id')).toStartWith('req_')
    expect(await reply.json()).toEqual({ ...told, metadata })
  })

  test.each([[{}], [{ metadata: null }], [{ metadata: {} }]])('with %j has empty metadata', async (more) => {
    await using scenario = await startScenario(whole())
    const told = await store(scenario.app, more)
    expect(await readStored(scenario.app, told.id)).toEqual({ ...told, metadata: {} })
  })

  test('has the tool calls, reasoning, choices and warnings of its reply', async () => {
    const call = { id: 'call_1', name: 'height', arguments: ['{"at":', '"bridge"}'] }
    const choices = [
      { reasoning: ['The gauge.'], calls: [call], finish: 'tool_calls' },
      { text: ['Four.'], finish: 'length' },
    ]
    await using scenario = await startScenario(whole({ choices }))
    const told = await store(scenario.app, { n: 2, logprobs: true, metadata })
    expect(told.choices.map(({ finish_reason }) => finish_reason)).toEqual(['tool_calls', 'length'])
    expect(told.warnings).toHaveLength(2)
    expect(await readStored(scenario.app, told.id)).toEqual({ ...told, metadata })
  })

  test('that was streamed equals one that was not, under the id of its chunks', async () => {
    await using scenario = await startScenario([whole(), streamed()])
    const { app } = scenario
    const told = await store(app, { metadata })
    const stream = await readStreamed(
      await app.chat({
        ...question,
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
    expect(await readStored(app, String(id))).toEqual({ ...told, id, created, metadata })
  })

  test('that was streamed without usage has the estimate, and a warning', async () => {
    await using scenario = await startScenario([
      whole(said({}, { usage: undefined })),
      streamed(said({}, { usage: undefined })),
    ])
    const told = await store(scenario.app)
    expect(told.warnings).toHaveLength(1)
    const stream = await readStreamed(await scenario.app.chat({ ...question, store: true, stream: true }))
    const { usage, warnings, choices } = told
    expect(await readStored(scenario.app, String(stream.chunks[0]?.id))).toMatchObject({
      usage,
      warnings,
      choices,
    })
  })

  test('has the slug of its model also where an alias was requested', async () => {
    await using scenario = await startScenario(whole(), { model: { aliases: ['stream'] } })
    const told = await store(scenario.app, { model: 'stream' })
    expect(await readStored(scenario.app, told.id)).toMatchObject({ model: 'acme/river' })
  })
})

test.each([[{}], [{ store: false }], [{ store: null }], [{ metadata }]])(
  'a completion with %j is not stored',
  async (more) => {
    await using scenario = await startScenario([whole(), streamed()])
    const { app } = scenario
    const { id } = (await (await app.chat({ ...question, ...more })).json()) as { id: string }
    const { chunks } = await readStreamed(await app.chat({ ...question, ...more, stream: true }))
    for (const told of [id, String(chunks[0]?.id)])
      expect((await app.request(`${storedPath}/${told}`)).status).toBe(404)
    expect(await idsListed(app)).toEqual([])
  },
)

describe('an update of a stored completion', () => {
  test('replaces all of its metadata, and changes nothing else', async () => {
    await using scenario = await startScenario(whole())
    const { app } = scenario
    const told = await store(app, { metadata })
    const update = { metadata: { stage: 'live' }, model: 'other/model', choices: [], usage: null }
    const reply = await app.request(`${storedPath}/${told.id}`, { body: update })
    expect([reply.status, await reply.json()]).toEqual([200, { ...told, metadata: { stage: 'live' } }])
    expect(await readStored(app, told.id)).toEqual({ ...told, metadata: { stage: 'live' } })
    expect(await idsListed(app, 'metadata[topic]=rivers')).toEqual([])
    expect(await idsListed(app, 'metadata[stage]=live')).toEqual([told.id])
    expect(await idsListed(app, 'metadata[stage]=live&model=acme/river')).toEqual([told.id])
  })

  test('may use keys that are special to JavaScript', async () => {
    await using scenario = await startScenario(whole())
    const told = await store(scenario.app)
    const body = '{"metadata":{"__proto__":"a","constructor":"b","":"c"}}'
    const reply = await scenario.app.request(`${storedPath}/${told.id}`, { method: 'POST', body })
    expect(await reply.text()).toContain(body.slice(1))
    for (const pair of ['[__proto__]=a', '[constructor]=b', '[]=c'])
      expect(await idsListed(scenario.app, `metadata${pair}`)).toEqual([told.id])
  })

  test.each([
    [{}, 'missing_required_parameter'],
    [{ metadata: null }, 'invalid_type'],
    [{ metadata: 'x' }, 'invalid_type'],
    [{ metadata: ['x'] }, 'invalid_type'],
  ])('with %j is rejected', async (body, code) => {
    await using scenario = await startScenario(whole())
    const told = await store(scenario.app, { metadata })
    const reply = await scenario.app.request(`${storedPath}/${told.id}`, { body })
    expect(await readError(reply)).toMatchObject({ status: 400, code, param: 'metadata' })
    expect(await readStored(scenario.app, told.id)).toMatchObject({ metadata })
  })
})

describe('a deletion of a stored completion', () => {
  test.each([['application/json'], [null]])(
    'with content type %p and no body succeeds once',
    async (type) => {
      await using scenario = await startScenario(whole())
      const { app } = scenario
      const [gone, stays] = [await store(app, { metadata }), await store(app, { metadata })]
      const remove = () =>
        app.request(`${storedPath}/${gone.id}`, { method: 'DELETE', headers: { 'content-type': type } })
      const reply = await remove()
      expect(reply.status).toBe(200)
      expect(await reply.json()).toEqual({ id: gone.id, object: 'chat.completion.deleted', deleted: true })
      expect((await remove()).status).toBe(404)
      expect(await idsListed(app)).toEqual([stays.id])
      expect(await idsListed(app, 'metadata[topic]=rivers')).toEqual([stays.id])
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

  test.each([...ways])('is a 404: %s …%s', async (method, rest, body) => {
    await using scenario = await startScenario(whole())
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
    await using scenario = await startScenario(whole())
    const reply = await scenario.app.request(`${storedPath}/chatcmpl-1`, { method: 'PATCH', body: {} })
    expect(reply.status).toBe(405)
  })
})
