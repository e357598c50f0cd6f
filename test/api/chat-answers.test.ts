import { describe, expect, test } from 'bun:test'
import { framesOf, type Said, said, streamed, usage, whole } from '../support/chat-answers.ts'
import { fold, foldWhole, readCompletion, readStreamed } from '../support/chat-reply.ts'
import { question, type Scenario, startScenario } from '../support/scenario.ts'
import { cutAt, events } from '../support/script.ts'
import { cutsOf, randomFrom } from '../unit/protocols/support/random.ts'

const call = { id: 'call_1', name: 'read_level', arguments: ['{"pla', 'ce":"at the ', 'dam"}'] }
const secondCall = { id: 'call_2', name: 'read_flow', arguments: ['{', '}'] }
const rich = { prompt_tokens: 20, completion_tokens: 9, total_tokens: 29 }

const answers: readonly (readonly [name: string, answer: Said])[] = [
  ['a text', said()],
  ['an empty text', said({ text: [''] })],
  ['a text of many scripts', said({ text: ['Größe ', '水位 🌊', '\u2028"quoted"\n\n', 'data: [DONE]\n\n'] })],
  ['a text that was cut short', said({ finish: 'length' })],
  ['a text that was filtered', said({ finish: 'content_filter' })],
  ['one tool call', said({ text: undefined, calls: [call], finish: 'tool_calls' })],
  ['parallel tool calls', said({ text: undefined, calls: [call, secondCall], finish: 'tool_calls' })],
  ['a text and a tool call', said({ text: ['Let me see.'], calls: [secondCall], finish: 'tool_calls' })],
  ['reasoning before a text', said({ reasoning: ['The gauge ', 'says 4.'] })],
  [
    'three choices',
    said({}, { choices: ['one', 'two', 'three'].map((text) => ({ text: [text, '!'], finish: 'stop' })) }),
  ],
  [
    'counts of cached and of reasoning tokens',
    said(
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
  ['the tier that served it', said({}, { tier: 'priority' })],
  ['a tier that the API does not name', said({}, { tier: 'scale' })],
]

/** Both forms of the reply to the same question. */
async function bothForms({ app, acme }: Scenario, answer: Said) {
  acme.answer(whole(answer), streamed(answer))
  const completion = await readCompletion(await app.chat(question))
  return { completion, stream: await askStreamed({ app }) }
}

async function askStreamed({ app }: Pick<Scenario, 'app'>) {
  return readStreamed(await app.chat({ ...question, stream: true, stream_options: { include_usage: true } }))
}

test.each([...answers])('the stream has the same content as the complete reply: %s', async (_, answer) => {
  await using scenario = await startScenario([])
  const { completion, stream } = await bothForms(scenario, answer)
  expect(fold(stream.chunks)).toEqual(foldWhole(completion))
  expect(stream.chunks.at(-1)?.usage).toEqual(completion.usage)
  expect(stream.chunks.findLast(({ service_tier }) => service_tier !== undefined)?.service_tier ?? null).toBe(
    completion.service_tier ?? null,
  )
  expect(stream.done).toBe(true)
})

test.each([...answers])('the output of the provider reaches the client: %s', async (_, answer) => {
  await using scenario = await startScenario(whole(answer))
  const completion = await readCompletion(await scenario.app.chat(question))
  expect(foldWhole(completion)).toEqual(
    answer.choices.map(({ text = [], reasoning = [], calls = [], finish }) => ({
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
      whole(said({ text: undefined, calls: [call], finish: 'stop' })),
    )
    const [choice] = (await readCompletion(await scenario.app.chat(question))).choices
    expect(choice).toMatchObject({ finish_reason: 'tool_calls', message: { content: null } })
    expect(choice?.message).not.toHaveProperty('reasoning')
    scenario.acme.answer(whole(said({ text: [''] })))
    const [plain] = (await readCompletion(await scenario.app.chat(question))).choices
    expect(plain?.message).toEqual({ role: 'assistant', content: '' })
  })

  test('emits each tool call of a stream complete and in one chunk', async () => {
    const answer = said({ text: undefined, calls: [call, secondCall], finish: 'tool_calls' })
    await using scenario = await startScenario(streamed(answer))
    const { chunks } = await askStreamed(scenario)
    const told = chunks.flatMap(({ choices }) => choices.flatMap(({ delta }) => delta.tool_calls ?? []))
    expect(told.map(({ index, id }) => [index, id])).toEqual([
      [0, 'call_1'],
      [1, 'call_2'],
    ])
    expect(told[0]?.function.arguments).toBe('{"place":"at the dam"}')
  })

  test('is streamed also where the provider replies in one piece', async () => {
    await using scenario = await startScenario(whole())
    const stream = await askStreamed(scenario)
    expect(stream.headers.get('content-type')).toStartWith('text/event-stream')
    expect(fold(stream.chunks)[0]).toMatchObject({ text: 'It is four metres.', finish: 'stop' })
    expect(stream.done).toBe(true)
  })

  test('is a complete reply also where the provider streams without being asked to', async () => {
    await using scenario = await startScenario(streamed())
    const completion = await readCompletion(await scenario.app.chat(question))
    expect(foldWhole(completion)[0]).toMatchObject({ text: 'It is four metres.', finish: 'stop' })
    expect(completion.usage).toMatchObject(usage)
  })
})

test('the stream has the same content wherever the bytes of the provider are split', async () => {
  const answer = said({
    reasoning: ['Die Höhe… ', '水位'],
    text: ['Größe ', '🌊🌊 ', 'data: {"not":"a frame"}\n\n', 'end'],
    calls: [call, secondCall],
    finish: 'tool_calls',
  })
  const bytes = Buffer.from(framesOf(answer).join(''))
  await using scenario = await startScenario(streamed(answer))
  const expected = fold((await askStreamed(scenario)).chunks)
  for (let run = 0; run < 40; run++) {
    scenario.acme.answer(events(cutAt(bytes, cutsOf(bytes, randomFrom(`cut ${run}`)))))
    const stream = await askStreamed(scenario)
    expect([run, fold(stream.chunks), stream.done]).toEqual([run, expected, true])
  }
})
