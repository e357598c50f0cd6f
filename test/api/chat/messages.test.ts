import { describe, expect, test } from 'bun:test'
import {
  framesOf,
  type ChatOutput,
  chatOutput,
  streamReply,
  usage,
  jsonReply,
} from '../../support/chat-fixtures.ts'
import { joinChunks, joinedChoices, readCompletion, readStreamed } from '../../support/chat-reply.ts'
import { chatRequest, type Scenario, startScenario } from '../../support/scenario.ts'
import { cutAt, events } from '../../support/script.ts'
import { cutsOf, randomFrom } from '../../unit/providers/protocols/support/random.ts'

const call = { id: 'call_1x7Kp2mQ9', name: 'read_level', arguments: ['{"pla', 'ce":"at the ', 'dam"}'] }
const secondCall = { id: 'call_2', name: 'read_flow', arguments: ['{', '}'] }
const rich = { prompt_tokens: 20, completion_tokens: 9, total_tokens: 29 }

const answers: readonly (readonly [name: string, answer: ChatOutput])[] = [
  ['a text', chatOutput()],
  ['an empty text', chatOutput({ text: [''] })],
  [
    'a text of many scripts',
    chatOutput({ text: ['Größe ', '水位 🌊', '\u2028"quoted"\n\n', 'data: [DONE]\n\n'] }),
  ],
  ['a text that was cut short', chatOutput({ finish: 'length' })],
  ['a text that was filtered', chatOutput({ finish: 'content_filter' })],
  ['one tool call', chatOutput({ text: undefined, calls: [call], finish: 'tool_calls' })],
  ['parallel tool calls', chatOutput({ text: undefined, calls: [call, secondCall], finish: 'tool_calls' })],
  [
    'a text and a tool call',
    chatOutput({ text: ['Let me see.'], calls: [secondCall], finish: 'tool_calls' }),
  ],
  ['reasoning before a text', chatOutput({ reasoning: ['The gauge ', 'says 4.'] })],
  [
    'three choices',
    chatOutput(
      {},
      { choices: ['one', 'two', 'three'].map((text) => ({ text: [text, '!'], finish: 'stop' })) },
    ),
  ],
  [
    'counts of cached and of reasoning tokens',
    chatOutput(
      {},
      {
        usage: {
          ...rich,
          prompt_tokens_details: { cached_tokens: 7 },
          completion_tokens_details: { reasoning_tokens: 3 },
        },
      },
    ),
  ],
  ['the tier that served it', chatOutput({}, { tier: 'priority' })],
  ['a tier that the API does not name', chatOutput({}, { tier: 'scale' })],
]

/** Both forms of the reply to the same question. */
async function bothForms({ app, acme }: Scenario, reply: ChatOutput) {
  acme.respondWith(jsonReply(reply), streamReply(reply))
  const completion = await readCompletion(await app.chat(chatRequest))
  return { completion, stream: await askStreamed({ app }) }
}

async function askStreamed({ app }: Pick<Scenario, 'app'>) {
  return readStreamed(
    await app.chat({ ...chatRequest, stream: true, stream_options: { include_usage: true } }),
  )
}

test.each([...answers])('the stream has the same content as the complete reply: %s', async (_, reply) => {
  await using scenario = await startScenario([])
  const { completion, stream } = await bothForms(scenario, reply)
  expect(joinChunks(stream.chunks)).toEqual(joinedChoices(completion))
  expect(stream.chunks.at(-1)?.usage).toEqual(completion.usage)
  expect(stream.chunks.findLast(({ service_tier }) => service_tier !== undefined)?.service_tier ?? null).toBe(
    completion.service_tier ?? null,
  )
  expect(stream.done).toBe(true)
})

test.each([...answers])('the output of the provider reaches the client: %s', async (_, reply) => {
  await using scenario = await startScenario(jsonReply(reply))
  const completion = await readCompletion(await scenario.app.chat(chatRequest))
  expect(joinedChoices(completion)).toEqual(
    reply.choices.map(({ text = [], reasoning = [], calls = [], finish }) => ({
      text: text.join(''),
      reasoning: reasoning.join(''),
      calls: calls.map(({ id, name, arguments: pieces }) => {
        return { id, type: 'function', function: { name, arguments: pieces.join('') } }
      }),
      finish: finish as 'stop',
    })),
  )
})

describe('a chat completion', () => {
  test('has null content beside tool calls without text, and a string where there is text', async () => {
    await using scenario = await startScenario(
      jsonReply(chatOutput({ text: undefined, calls: [call], finish: 'stop' })),
    )
    const [choice] = (await readCompletion(await scenario.app.chat(chatRequest))).choices
    expect(choice).toMatchObject({ finish_reason: 'tool_calls', message: { content: null } })
    expect(choice?.message).not.toHaveProperty('reasoning')
    scenario.acme.respondWith(jsonReply(chatOutput({ text: [''] })))
    const [plain] = (await readCompletion(await scenario.app.chat(chatRequest))).choices
    expect(plain?.message).toEqual({ role: 'assistant', content: '' })
  })

  test('emits each tool call of a stream complete and in one chunk', async () => {
    const reply = chatOutput({ text: undefined, calls: [call, secondCall], finish: 'tool_calls' })
    await using scenario = await startScenario(streamReply(reply))
    const { chunks } = await askStreamed(scenario)
    const received = chunks.flatMap(({ choices }) => choices.flatMap(({ delta }) => delta.tool_calls ?? []))
    expect(received.map(({ index, id }) => [index, id])).toEqual([
      [0, 'call_1x7Kp2mQ9'],
      [1, 'call_2'],
    ])
    expect(received[0]?.function.arguments).toBe('{"place":"at the dam"}')
  })

  test('is streamed also where the provider replies in one piece', async () => {
    await using scenario = await startScenario(jsonReply())
    const stream = await askStreamed(scenario)
    expect(stream.headers.get('content-type')).toStartWith('text/event-stream')
    expect(joinChunks(stream.chunks)[0]).toMatchObject({ text: 'It is four metres.', finish: 'stop' })
    expect(stream.done).toBe(true)
  })

  test('is a complete reply also where the provider streams without being asked to', async () => {
    await using scenario = await startScenario(streamReply())
    const completion = await readCompletion(await scenario.app.chat(chatRequest))
    expect(joinedChoices(completion)[0]).toMatchObject({ text: 'It is four metres.', finish: 'stop' })
    expect(completion.usage).toMatchObject(usage)
  })
})

test('the stream has the same content wherever the bytes of the provider are split', async () => {
  const reply = chatOutput({
    reasoning: ['Die Höhe… ', '水位'],
    text: ['Größe ', '🌊🌊 ', 'data: {"not":"a frame"}\n\n', 'end'],
    calls: [call, secondCall],
    finish: 'tool_calls',
  })
  const bytes = Buffer.from(framesOf(reply).join(''))
  await using scenario = await startScenario(streamReply(reply))
  const expected = joinChunks((await askStreamed(scenario)).chunks)
  for (let run = 0; run < 40; run++) {
    scenario.acme.respondWith(events(cutAt(bytes, cutsOf(bytes, randomFrom(`cut ${run}`)))))
    const stream = await askStreamed(scenario)
    expect([run, joinChunks(stream.chunks), stream.done]).toEqual([run, expected, true])
  }
})
