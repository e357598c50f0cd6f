import { describe, expect, test } from 'bun:test'
import { lowerItems } from '../../../../src/api/responses/request/lower-items.ts'
import { openSealedState, sealState } from '../../../../src/domain/generation/sealed-state.ts'
import { ValueBudget } from '../../../../src/lib/validation/value-budget.ts'

const call = { type: 'function_call', id: 'a', call_id: 'call_1', name: 'read', arguments: '{}' }
const output = { type: 'function_call_output', id: 'b', call_id: 'call_1', output: 'done' }
const state = { reasoning_details: [{ type: 'reasoning.text', text: 'It is high.' }] }

describe('the state of a call that names its call', () => {
  test('is attached once, however often the call is repeated', () => {
    const sealed = sealState({ provider: 'acme', state, callId: 'call_1' })
    const reasoning = { type: 'reasoning', id: 'c', summary: [], encrypted_content: sealed }
    const pairs = [call, output, call, output, call, output]
    const messages = lowerItems([], [reasoning, ...pairs], true, () => {})
    const calls = messages.flatMap((message) => (message.role === 'assistant' ? message.toolCalls : []))
    expect(calls).toHaveLength(3)
    expect(calls.filter((each) => each.state !== undefined)).toMatchObject([{ state, provider: 'acme' }])
  })
})

test('a state that comes again before its call is attached once', () => {
  const thinking = { reasoning_details: [{ type: 'reasoning.text', text: 'High?' }] }
  const [one, other] = [state, thinking].map((each, index) => {
    const encrypted_content = sealState({ provider: 'acme', state: each })
    return { type: 'reasoning', id: `r${index}`, summary: [], encrypted_content }
  })
  const context = [one!, { ...call, id: 'first' }]
  const messages = lowerItems(context, [one!, other!, call, output], true, () => {})
  expect(messages).toMatchObject([
    {
      toolCalls: [
        { state: { reasoning_details: [...state.reasoning_details, ...thinking.reasoning_details] } },
      ],
    },
    { role: 'tool' },
  ])
})

test('a state with more properties than any provider has is ignored, because they are slow to parse', () => {
  const wide = Object.fromEntries(Array.from({ length: 5000 }, (_, index) => [`key_${index}`, 1]))
  expect(
    openSealedState(sealState({ provider: 'acme', state: wide }), new ValueBudget('input')),
  ).toBeUndefined()
  expect(openSealedState(sealState({ provider: 'acme', state }), new ValueBudget('input'))).toEqual({
    provider: 'acme',
    state,
  })
})
