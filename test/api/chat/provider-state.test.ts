import { expect, test } from 'bun:test'
import { jsonReply } from '../../support/chat-fixtures.ts'
import { readCompletion, readError } from '../../support/chat-reply.ts'
import { chatRequest, startScenario } from '../../support/scenario.ts'

const [question] = chatRequest.messages

test.each([
  ['a file', { content: [{ type: 'file', file: { file_id: 'f' } }] }, 'content[0].file.file_id'],
  [
    'a file of a part of unknown type',
    { content: [{ type: 'x', in: [{ fileId: 'f' }] }] },
    'content[0].in[0].fileId',
  ],
  [
    'a file beside a text',
    { content: [{ type: 'text', text: 'Hi', file_ids: ['f'] }] },
    'content[0].file_ids',
  ],
  ['a file of a message', { content: 'Hi', attachments: [{ file_id: 'f' }] }, 'attachments[0].file_id'],
  ['a container', { content: 'Hi', container: { id: 'c' } }, 'container.id'],
  ['an earlier spoken reply', { content: 'Hi', audio: { id: 'audio_1' } }, 'audio.id'],
])('%s of the account of the gateway reaches no provider', async (_, fields, path) => {
  await using scenario = await startScenario([jsonReply()])
  const messages = [question, { role: 'assistant', ...fields }, question]
  const error = await readError(await scenario.app.chat({ ...chatRequest, messages }))
  expect(error).toMatchObject({ status: 400, code: 'unsupported_parameter', param: `messages[1].${path}` })
  expect(scenario.acme.requests).toEqual([])
})

test('what a model has cited, and tools that know files, are accepted', async () => {
  await using scenario = await startScenario([jsonReply()])
  const parameters = { type: 'object', properties: { file_id: { type: 'string' } } }
  const call = { id: 'a', type: 'function', function: { name: 'open', arguments: '{"file_id":"f"}' } }
  const annotations = [{ type: 'file_citation', file_id: 'f' }]
  const messages = [
    question,
    { role: 'assistant', content: null, tool_calls: [call], annotations },
    { role: 'tool', tool_call_id: 'a', content: '{"file_id":"f"}' },
  ]
  const tools = [{ type: 'function', function: { name: 'open', parameters } }]
  await readCompletion(await scenario.app.chat({ ...chatRequest, messages, tools }))
  expect(scenario.acme.requests).toHaveLength(1)
})
