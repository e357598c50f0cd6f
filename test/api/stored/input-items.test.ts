import { expect, test } from 'bun:test'
import { jsonReply } from '../../support/chat-fixtures.ts'
import { createResponse, listInputItems } from '../../support/responses.ts'
import { startScenario } from '../../support/scenario.ts'

test('listed input items have the fields that the SDKs of OpenAI require, and keep what was sent', async () => {
  const call = { type: 'function_call', call_id: 'a', name: 'read_level', arguments: '{}' }
  const result = { type: 'function_call_output', call_id: 'a', output: '5 m' }
  const custom = { type: 'custom_tool_call', call_id: 'b', name: 'note', input: 'x' }
  const noted = { type: 'custom_tool_call_output', call_id: 'b', output: 'ok', status: 'incomplete' }
  const image = { type: 'input_image', image_url: 'data:image/png;base64,QUJD' }
  const input = [
    { role: 'user', content: [image, { ...image, detail: 'low' }, { type: 'input_text', text: 'Hi' }] },
    { role: 'assistant', content: 'Let me see.' },
    { role: 'assistant', content: [{ type: 'output_text', text: 'So.', annotations: [{ type: 'x' }] }] },
    call,
    custom,
    result,
    noted,
  ]
  await using scenario = await startScenario(jsonReply(), {
    settings: { compatibility: { function_tools: true } },
  })
  const { id } = await createResponse(scenario.app, { input })
  const { data } = await listInputItems(scenario.app, id, 'order=asc')
  const status = 'completed'
  const ids = data.map(({ id }) => id)
  expect(new Set(ids).size).toBe(input.length)
  expect<unknown>(data).toEqual([
    {
      id: ids[0],
      type: 'message',
      status,
      role: 'user',
      content: [
        { ...image, detail: 'auto' },
        { ...image, detail: 'low' },
        { type: 'input_text', text: 'Hi' },
      ],
    },
    {
      id: ids[1],
      type: 'message',
      status,
      role: 'assistant',
      content: [{ type: 'output_text', text: 'Let me see.', annotations: [], logprobs: [] }],
    },
    {
      id: ids[2],
      type: 'message',
      status,
      role: 'assistant',
      content: [{ type: 'output_text', text: 'So.', annotations: [{ type: 'x' }], logprobs: [] }],
    },
    { ...call, id: ids[3], status },
    { ...custom, id: ids[4], status },
    { ...result, id: ids[5], status },
    { ...noted, id: ids[6] },
  ])
})
