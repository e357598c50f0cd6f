import { expect, test } from 'bun:test'
import { BlockFold } from '../../../../src/api/messages/message-stream.ts'

function inputOf(json: string): unknown {
  const fold = new BlockFold()
  fold.add([
    { type: 'content_block_start', index: 0, content_block: { type: 'tool_use', input: {} } },
    { type: 'content_block_delta', index: 0, delta: { type: 'input_json_delta', partial_json: json } },
    { type: 'content_block_stop', index: 0 },
  ])
  return fold.blocks()[0]?.input
}

test('the input of a tool is what the model wrote, or empty where it nests too deeply to be serialized', () => {
  expect(inputOf('{"a":{"b":[1]}}')).toEqual({ a: { b: [1] } })
  expect(inputOf(`${'{"a":'.repeat(50_000)}1${'}'.repeat(50_000)}`)).toEqual({})
})

test('thousands of citations of a text are collected in a time that grows with their number alone', () => {
  const fold = new BlockFold()
  // What grows with its square does not end within the time of a test.
  const count = 400_000
  const citation = { type: 'char_location' }
  fold.add([{ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }])
  for (let index = 0; index < count; index++)
    fold.add([{ type: 'content_block_delta', index: 0, delta: { type: 'citations_delta', citation } }])
  fold.add([{ type: 'content_block_stop', index: 0 }])
  expect(fold.blocks()[0]?.citations).toHaveLength(count)
})
