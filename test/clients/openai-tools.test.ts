import { describe, expect, test } from 'bun:test'
import { type ChatOutput, chatOutput, streamReply, jsonReply } from '../support/chat-fixtures.ts'
import type { ScenarioOptions } from '../support/scenario.ts'
import { openaiRequest, startOpenaiScenario } from './support/openai-client.ts'

const measure = {
  type: 'function' as const,
  function: {
    name: 'measure',
    description: 'Measures a river.',
    parameters: { type: 'object', properties: { river: { type: 'string' } }, required: ['river'] },
  },
}
const forced = { type: 'function' as const, function: { name: 'measure' } }

const twoCalls = chatOutput({
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

const oneCall = chatOutput({
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
    await using scenario = await startOpenaiScenario(jsonReply(twoCalls), options)
    const { choices } = await scenario.openai.chat.completions.create({ ...openaiRequest, tools: [measure] })
    expect(choices[0]?.message.tool_calls).toMatchObject(expectedCalls)
    expect(choices[0]?.message.content).toBeNull()
    expect(choices[0]?.finish_reason).toBe('tool_calls')
  })

  test('of a stream with the stream helper', async () => {
    await using scenario = await startOpenaiScenario(streamReply(twoCalls), options)
    const stream = scenario.openai.chat.completions.stream({ ...openaiRequest, tools: [measure] })
    const { choices } = await stream.finalChatCompletion()
    expect(choices[0]?.message.tool_calls).toMatchObject(expectedCalls)
    expect(choices[0]?.message.tool_calls).toHaveLength(2)
    expect(choices[0]?.finish_reason).toBe('tool_calls')
  })

  test('of a stream by joining their fragments', async () => {
    await using scenario = await startOpenaiScenario(streamReply(twoCalls), options)
    const calls: { id: string; type: string; function: { name: string; arguments: string } }[] = []
    const stream = await scenario.openai.chat.completions.create({
      ...openaiRequest,
      tools: [measure],
      stream: true,
    })
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
  ['not streamed', jsonReply, false, {}],
  ['streamed', streamReply, true, {}],
  ['streamed in fragments', streamReply, true, inFragments],
] as const)(
  'a forced tool in the OpenAI client (%s)',
  (_, answerOf: (said: ChatOutput) => ReturnType<typeof jsonReply>, stream, options) => {
    test('is called, and the provider received the tool choice', async () => {
      await using scenario = await startOpenaiScenario(answerOf(oneCall), options)
      const params = { ...openaiRequest, tools: [measure], tool_choice: forced }
      const message = stream
        ? await scenario.openai.chat.completions.stream(params).finalMessage()
        : (await scenario.openai.chat.completions.create(params)).choices[0]?.message
      expect(message?.tool_calls).toMatchObject([expectedCalls[0]])
      expect(scenario.acme.requests[0]?.body.tool_choice).toEqual(forced)
    })

    test('is run by the client, which receives the final text of the model', async () => {
      await using scenario = await startOpenaiScenario([answerOf(oneCall), answerOf(chatOutput())], options)
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
        ? scenario.openai.chat.completions.runTools({ ...openaiRequest, tools: [tool], stream })
        : scenario.openai.chat.completions.runTools({ ...openaiRequest, tools: [tool] })
      expect(await runner.finalContent()).toBe('It is four metres.')
      expect(measured).toEqual([{ river: 'Elbe' }])
      expect(scenario.acme.requests[1]?.body.messages).toMatchObject([
        ...openaiRequest.messages,
        { role: 'assistant', tool_calls: [expectedCalls[0]] },
        { role: 'tool', tool_call_id: 'call_a', content: '4.0' },
      ])
    })
  },
)
