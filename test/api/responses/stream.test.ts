import { describe, expect, test } from 'bun:test'
import { Compile } from 'typebox/compile'
import { ResponseStreamEvent } from '../../../src/api/responses/render/event-schema.ts'
import type { ResponseObject } from '../../../src/api/responses/render/reply-schema.ts'
import { assemble } from '../../unit/api/responses/support/step-order.ts'
import { chunks, delta, doneFrame, chatOutput, streamReply, jsonReply } from '../../support/chat-fixtures.ts'
import { createResponse, retrieveResponse, streamResponse, textOf } from '../../support/responses.ts'
import { startScenario } from '../../support/scenario.ts'
import type { Script } from '../../support/script.ts'

const form = Compile(ResponseStreamEvent)
const thoughtful = chatOutput({ reasoning: ['A gauge ', 'would know.'] })

async function streamOf(script: Script) {
  await using scenario = await startScenario(script)
  const reply = await streamResponse(scenario.app)
  const { id } = reply.last!
  const stored = await retrieveResponse(scenario.app, id)
  return { ...reply, stored, upstream: scenario.acme.requests[0]!.body }
}

test('a response stream emits reasoning and text in this order, each event with these fields', async () => {
  const { events, last } = await streamOf(streamReply(thoughtful))
  const digits = last!.id.slice('resp_'.length)
  const [thought, message] = [`rs_${digits}00`, `msg_${digits}01`]
  const reasoning = 'A gauge would know.'
  const text = 'It is four metres.'
  const inThought = { item_id: thought, output_index: 0, summary_index: 0 }
  const inText = { item_id: message, output_index: 1, content_index: 0 }
  const summary = { type: 'summary_text', text: reasoning }
  const part = { type: 'output_text', text, annotations: [], logprobs: [] }
  const opening = { id: message, type: 'message', status: 'in_progress', role: 'assistant', content: [] }
  const complete = { ...opening, status: 'completed', content: [part] }
  const expected = [
    { type: 'response.created', response: expect.anything() },
    { type: 'response.in_progress', response: expect.anything() },
    {
      type: 'response.output_item.added',
      output_index: 0,
      item: { id: thought, type: 'reasoning', summary: [] },
    },
    { type: 'response.reasoning_summary_part.added', ...inThought, part: { ...summary, text: '' } },
    { type: 'response.reasoning_summary_text.delta', ...inThought, delta: 'A gauge ' },
    { type: 'response.reasoning_summary_text.delta', ...inThought, delta: 'would know.' },
    { type: 'response.reasoning_summary_text.done', ...inThought, text: reasoning },
    { type: 'response.reasoning_summary_part.done', ...inThought, part: summary },
    {
      type: 'response.output_item.done',
      output_index: 0,
      item: { id: thought, type: 'reasoning', summary: [summary] },
    },
    { type: 'response.output_item.added', output_index: 1, item: opening },
    { type: 'response.content_part.added', ...inText, part: { ...part, text: '' } },
    { type: 'response.output_text.delta', ...inText, delta: 'It is ', logprobs: [] },
    { type: 'response.output_text.delta', ...inText, delta: 'four metres.', logprobs: [] },
    { type: 'response.output_text.done', ...inText, text, logprobs: [] },
    { type: 'response.content_part.done', ...inText, part },
    { type: 'response.output_item.done', output_index: 1, item: complete },
    { type: 'response.completed', response: expect.anything() },
  ]
  expect<unknown>(events).toEqual(expected.map((event, sequence_number) => ({ sequence_number, ...event })))
})

test('the snapshots show the progress of the response, and the last one is what is retrieved from then on', async () => {
  const { events, last, stored } = await streamOf(streamReply(thoughtful))
  const snapshots = events.flatMap((event) => ('response' in event ? [event.response] : []))
  expect(snapshots.map(({ status }) => status)).toEqual(['in_progress', 'in_progress', 'completed'])
  for (const snapshot of snapshots.slice(0, 2)) expect(snapshot).toMatchObject({ output: [], usage: null })
  expect(new Set(snapshots.map(({ id, created_at }) => `${id} ${created_at}`)).size).toBe(1)
  expect(last).toEqual(stored)
  expect(last?.usage).toMatchObject({ input_tokens: 12, output_tokens: 5, total_tokens: 17 })
  expect(assemble(events)).toEqual({ output: last!.output, end: last! })
})

const variants: Record<string, Script> = {
  text: streamReply(),
  'reasoning and text': streamReply(thoughtful),
  'reasoning alone': streamReply(chatOutput({ reasoning: ['Hm.'], text: [] })),
  nothing: streamReply(chatOutput({ text: [] })),
  'text, reasoning and text again': chunks([
    delta({ role: 'assistant', content: 'One.' }),
    delta({ reasoning_content: 'Two?' }),
    delta({ content: 'Three.' }),
    delta({}, 'stop'),
    doneFrame,
  ]),
  'the output limit': streamReply(chatOutput({ finish: 'length' })),
  'a filter': streamReply(chatOutput({ finish: 'content_filter' })),
  'no usage': streamReply(chatOutput({}, { usage: undefined })),
  'a break in the middle': chunks([delta({ role: 'assistant', content: 'It is ' })]),
}

describe('every response stream is well-formed, whatever the model emits:', () => {
  test.each(Object.entries(variants))('%s', async (_, script) => {
    const { events, last, stored, text, upstream } = await streamOf(script)
    expect(events.filter((event) => !form.Check(event))).toEqual([])
    expect(events.map(({ sequence_number }) => sequence_number)).toEqual([...events.keys()])
    expect(assemble(events)).toEqual({ output: stored.output, end: stored })
    expect(last).toEqual(stored)
    expect(text).not.toContain('[DONE]')
    expect(upstream).toMatchObject({ stream: true, stream_options: { include_usage: true } })
  })
})

test.each([
  ['the output limit', 'length', 'max_output_tokens'],
  ['a filter', 'content_filter', 'content_filter'],
])('an output that %s cuts short ends with response.incomplete', async (_, finish, reason) => {
  const { types, last } = await streamOf(streamReply(chatOutput({ finish })))
  expect(types.at(-1)).toBe('response.incomplete')
  expect(types).not.toContain('response.completed')
  expect(last).toMatchObject({ status: 'incomplete', incomplete_details: { reason }, error: null })
  expect(last?.output).toMatchObject([{ type: 'message', status: 'incomplete' }])
  expect(last?.usage).toMatchObject({ input_tokens: 12, output_tokens: 5 })
  expect(textOf(last!)).toBe('It is four metres.')
})

test('a response stream has the headers of an event stream that must not be buffered', async () => {
  const { status, headers } = await streamOf(streamReply())
  expect(status).toBe(200)
  expect(headers.get('cache-control')).toBe('no-cache')
  expect(headers.get('x-accel-buffering')).toBe('no')
  expect(headers.get('x-request-id')).toMatch(/^req_/)
  expect(headers.get('server-timing')).toBeNull()
  expect(headers.get('x-weir-cost')).toBeNull()
})

test('a client that accepts only JSON gets the stream that it requested', async () => {
  await using scenario = await startScenario(streamReply())
  const { types } = await streamResponse(scenario.app, {}, { headers: { accept: 'application/json' } })
  expect(types).toContain('response.completed')
})

test('a response stream shows nothing of the provider’s identity', async () => {
  const { text } = await streamOf(streamReply(thoughtful))
  expect(text).not.toMatch(/upstream-1|upstream-model|river-1/)
})

test('a response that is not stored is streamed alike, and does not exist afterwards', async () => {
  await using scenario = await startScenario(streamReply())
  const { types, last, events } = await streamResponse(scenario.app, { store: false })
  expect(types.at(-1)).toBe('response.completed')
  expect(last).toMatchObject({ store: false, status: 'completed' })
  expect(assemble(events).end).toEqual(last)
  expect((await scenario.app.request(`/v1/responses/${last!.id}`)).status).toBe(404)
})

test('the same output makes the same response, streamed or not', async () => {
  await using scenario = await startScenario([streamReply(thoughtful), jsonReply(thoughtful)])
  const { last } = await streamResponse(scenario.app)
  expect(plain(last!)).toEqual(plain(await createResponse(scenario.app)))
})

/** Without what differs from one response to the next. */
function plain(response: ResponseObject): object {
  const text = JSON.stringify(response).replaceAll(response.id.slice('resp_'.length), '')
  return { ...JSON.parse(text), created_at: 0, completed_at: 0 }
}
