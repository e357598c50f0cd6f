import { describe, expect, test } from 'bun:test'
import type { ChatCompletion } from '../../../src/api/chat-completions/reply-schema.ts'
import { chunks, delta, doneFrame, jsonReply, streamReply, usage } from '../../support/chat-fixtures.ts'
import { joinChunks, readCompletion, readStreamed } from '../../support/chat-reply.ts'
import { chatRequest, startScenario } from '../../support/scenario.ts'
import { json } from '../../support/script.ts'
import { retrieveCompletion, storeCompletion } from '../../support/stored-completions.ts'

const text = 'It stands at 3 m [1][2].'
const annotations = [
  {
    type: 'url_citation',
    url_citation: { url: 'https://river.example/gauge', title: 'Gauge', start_index: 0, end_index: 0 },
  },
  {
    type: 'url_citation',
    url_citation: { url: 'https://river.example/weir', title: 'Weir', start_index: 0, end_index: 0 },
  },
] as const

/** What Perplexity sends beside the choices, in every chunk. */
const found = {
  citations: annotations.map(({ url_citation }) => url_citation.url),
  search_results: annotations.map(({ url_citation: { url, title } }) => ({ url, title, snippet: 'Rain.' })),
}

const reply = (message: object, rest: object = {}) =>
  json({
    choices: [{ index: 0, message: { role: 'assistant', content: text, ...message }, finish_reason: 'stop' }],
    usage,
    ...rest,
  })
const stream = (...pieces: object[]) => chunks([...pieces, { choices: [], usage }, doneFrame])

const replies = [
  ['annotations', reply({ annotations })],
  ['search results', reply({}, found)],
] as const

const streams = [
  ['annotations', stream(delta({ content: text }), delta({ annotations }), delta({}, 'stop'))],
  [
    'search results',
    stream(
      { ...delta({ content: 'It stands ' }), ...found },
      { ...delta({ content: 'at 3 m [1][2].' }), ...found },
      { ...delta({ content: '' }, 'stop'), ...found },
    ),
  ],
] as const

describe('the pages that a completion cites', () => {
  test.each(replies)('are annotations of the message, from %s', async (_, script) => {
    await using scenario = await startScenario(script)
    const { choices, warnings } = await readCompletion(await scenario.app.chat(chatRequest))
    expect<unknown>(choices[0]?.message).toEqual({ role: 'assistant', content: text, annotations })
    expect(warnings).toBeUndefined()
  })

  test.each(streams)('are streamed once, in a chunk of their own, from %s', async (_, script) => {
    await using scenario = await startScenario(script)
    const { chunks, done } = await readStreamed(await scenario.app.chat({ ...chatRequest, stream: true }))
    expect(done).toBe(true)
    expect(joinChunks(chunks)).toMatchObject([{ text, finish: 'stop' }])
    const deltas = chunks.flatMap(({ choices }) => choices.map(({ delta }) => delta))
    expect<unknown>(deltas.filter((delta) => 'annotations' in delta)).toEqual([{ annotations }])
  })

  test.each([...replies, ...streams])('are part of the stored completion, from %s', async (_, script) => {
    await using scenario = await startScenario(script)
    const streamed = streams.some(([, other]) => other === script)
    const body = { ...chatRequest, stream: streamed, store: true }
    const [id = ''] = /chatcmpl-\w+/.exec(await (await scenario.app.chat(body)).text()) ?? []
    const stored = (await retrieveCompletion(scenario.app, id)) as ChatCompletion
    expect<unknown>(stored.choices[0]?.message).toEqual({ role: 'assistant', content: text, annotations })
    expect(stored.usage).toMatchObject(usage)
  })

  test('are annotations where the provider speaks the Responses API', async () => {
    const routes = [{ provider: 'acme', model: 'river-pro', api: 'responses' as const }]
    const own = annotations.map(({ type, url_citation }) => ({ type, ...url_citation }))
    const content = [{ type: 'output_text', text, annotations: own }]
    const script = json({ status: 'completed', output: [{ type: 'message', content }] })
    await using scenario = await startScenario(script, { acme: { kind: 'openai' }, model: { routes } })
    const { choices } = await readCompletion(await scenario.app.chat(chatRequest))
    expect<unknown>(choices[0]?.message.annotations).toEqual(annotations)
  })

  test('are not sent back to the provider', async () => {
    await using scenario = await startScenario([reply({ annotations }), jsonReply()])
    const { choices } = await readCompletion(await scenario.app.chat(chatRequest))
    const { messages } = chatRequest
    await scenario.app.chat({ ...chatRequest, messages: [...messages, choices[0]!.message, ...messages] })
    expect(scenario.acme.requests[1]?.body).toMatchObject({ messages: [{}, { content: text }, {}] })
    expect(scenario.acme.requests[1]?.text).not.toContain('annotations')
  })

  test('change neither the tokens nor the text of a completion', async () => {
    await using scenario = await startScenario([reply({}), reply({ annotations })])
    const [plain, cited] = [await storeCompletion(scenario.app), await storeCompletion(scenario.app)]
    expect(cited.usage).toEqual(plain.usage)
    expect(cited.choices[0]?.message.content).toBe(text)
  })

  test('are a 502 where the choices together cite more than the gateway keeps', async () => {
    const url = `https://river.example/${'a'.repeat(8000)}`
    const pages = Array.from({ length: 200 }, (_, start_index) => ({
      type: 'url_citation',
      url_citation: { url, start_index },
    }))
    const choices = Array.from({ length: 24 }, (_, index) => ({
      index,
      message: { role: 'assistant', content: text, annotations: pages },
      finish_reason: 'stop',
    }))
    await using scenario = await startScenario(json({ choices, usage }))
    expect((await scenario.app.chat(chatRequest)).status).toBe(502)
  })
})

test('a completion that cites no pages has no annotations, streamed or not', async () => {
  const empty = reply({ annotations: [] }, { citations: [], search_results: [] })
  await using scenario = await startScenario([empty, jsonReply(), streamReply()])
  for (const streamed of [false, false, true]) {
    const received = await (await scenario.app.chat({ ...chatRequest, stream: streamed })).text()
    expect(received).not.toContain('annotations')
  }
})
