import { describe, expect, test } from 'bun:test'
import { type Said, said, streamed, whole } from '../support/chat-answers.ts'
import type { ScenarioOptions } from '../support/scenario.ts'
import { asked, startWithOpenai } from './support/openai-client.ts'

const measure = {
  type: 'function' as const,
  function: {
    name: 'measure',
    description: 'Measures a river.',
    parameters: { type: 'object', properties: { river: { type: 'string' } }, required: ['river'] },
  },
}
const forced = { type: 'function' as const, function: { name: 'measure' } }

const twoCalls = said({
  text: undefined,
  calls: [
    { id: 'call_a', name: 'measure', arguments: ['{"riv', 'er":"Elbe"}'] },
    { id: 'call_b', name: 'measure', arguments: ['{"river":', '"Rhine"}'] },
  ],
  finish: 'tool_calls',
})

const expectedCalls = [
  { id: 'call_a', type: 'function', function: { name: 'measure', arguments: '{"river":"Elbe"}' } },
  { id: 'call_b', type: 'function', function: { name: 'measure', arguments: '{"river":"Rhine"}' } },
]

const oneCall = said({
  text: undefined,
  calls: [{ id: 'call_a', name: 'measure', arguments: ['{"river"', ':"Elbe"}'] }],
  finish: 'tool_calls',
})

const inFragments = { settings: { compatibility: { tool_call_fragments: true } } }
const modes: [string, ScenarioOptions][] = [
  ['complete', {}],
  ['in fragments', inFragments],
]

describe.each(modes)('the OpenAI client reads parallel tool calls (%s)', (_, options) => {
  test('complete', async () => {
    await using world = await startWithOpenai(whole(twoCalls), options)
    const { choices } = await world.openai.chat.completions.create({ ...asked, tools: [measure] })
    expect(choices[0]?.message.tool_calls).toMatchObject(expectedCalls)
    expect(choices[0]?.message.content).toBeNull()
    expect(choices[0]?.finish_reason).toBe('tool_calls')
  })

  test('of a stream with the stream helper', async () => {
    await using world = await startWithOpenai(streamed(twoCalls), options)
    const stream = world.openai.chat.completions.stream({ ...asked, tools: [measure] })
    const { choices } = await stream.finalChatCompletion()
    expect(choices[0]?.message.tool_calls).toMatchObject(expectedCalls)
    expect(choices[0]?.message.tool_calls).toHaveLength(2)
    expect(choices[0]?.finish_reason).toBe('tool_calls')
  })

  test('of a stream by joining their fragments', async () => {
    await using world = await startWithOpenai(streamed(twoCalls), options)
    const calls: { id: string; type: string; function: { name: string; arguments: string } }[] = []
    const stream = await world.openai.chat.completions.create({ ...asked, tools: [measure], stream: true })
    for await (const { choices } of stream) {
      for (const { index, id = '', type = '', function: called } of choices[0]?.delta.tool_calls ?? []) {
        const call = (calls[index] ??= { id: '', type: '', function: { name: '', arguments: '' } })
        call.id += id
        call.type += type
        call.function.name += called?.name ?? ''
        call.function.arguments += called?.arguments ?? ''
      }
    }
    expect(calls).toEqual(expectedCalls)
  })
})

describe.each([
  ['not streamed', whole, false, {}],
  ['streamed', streamed, true, {}],
  ['streamed in fragments', streamed, true, inFragments],
] as const)(
  'a forced tool in the OpenAI client (%s)',
  (_, answerOf: (said: Said) => ReturnType<typeof whole>, stream, options) => {
    test('is called, and the provider received the tool choice', async () => {
      await using world = await startWithOpenai(answerOf(oneCall), options)
      const params = { ...asked, tools: [measure], tool_choice: forced }
      const message = stream
        ? await world.openai.chat.completions.stream(params).finalMessage()
        : (await world.openai.chat.completions.create(params)).choices[0]?.message
      expect(message?.tool_calls).toMatchObject([expectedCalls[0]])
      expect(world.acme.requests[0]?.body.tool_choice).toEqual(forced)
    })

    test('is run by the client, which receives the final text of the model', async () => {
      await using world = await startWithOpenai([answerOf(oneCall), answerOf(said())], options)
      const measured: unknown[] = []
      const tool = {
        ...measure,
        function: {
          ...measure.function,
          parse: JSON.parse,
          function: (argument: unknown) => {
            measured.push(argument)
            return '4.0'
          },
        },
      }
      const runner = stream
        ? world.openai.chat.completions.runTools({ ...asked, tools: [tool], stream })
        : world.openai.chat.completions.runTools({ ...asked, tools: [tool] })
      expect(await runner.finalContent()).toBe('It is four metres.')
      expect(measured).toEqual([{ river: 'Elbe' }])
      expect(world.acme.requests[1]?.body.messages).toMatchObject([
        ...asked.messages,
        { role: 'assistant', tool_calls: [expectedCalls[0]] },
        { role: 'tool', tool_call_id: 'call_a', content: '4.0' },
      ])
    })
  },
)
