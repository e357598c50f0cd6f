import { expect, test } from 'bun:test'
import { namesOfAdditionalTools } from '../../../../src/api/responses/request/additional-tools.ts'

test('tools that every request of a conversation adds again are stored once, in the order of the last ones', () => {
  const wait = { type: 'function', name: 'wait', parameters: { type: 'object' } }
  const custom = { type: 'custom', name: 'wait', description: 'Waits.' }
  const exec = { type: 'namespace', name: 'functions', tools: [{ type: 'custom', name: 'exec' }] }
  const itemOf = (id: string, ...tools: readonly object[]) => ({ type: 'additional_tools', id, tools })
  const context = [itemOf('at_1', exec, wait), { type: 'message', id: 'msg_1' }, itemOf('at_2', custom)]
  expect(namesOfAdditionalTools({ context, input: [itemOf('at_3', exec, wait)] })).toEqual([
    { type: 'custom', name: 'wait' },
    { type: 'namespace', name: 'functions', tools: [{ type: 'custom', name: 'exec' }] },
    { type: 'function', name: 'wait' },
  ])
})
