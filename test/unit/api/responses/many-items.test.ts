import { expect, test } from 'bun:test'
import { step } from '../../../../src/api/responses/events/reduce.ts'
import { initialState, type ResponseState } from '../../../../src/api/responses/events/state.ts'
import { renderClosedItems } from '../../../../src/api/responses/render/render-response.ts'
import { maxBlocks } from '../../../../src/domain/generation/answer.ts'
import { headOf } from './support/step-cases.ts'

/** The state with one more item; the one before is closed by it. */
function withText(state: ResponseState, index: number): ResponseState {
  return step(state, { type: index % 2 === 0 ? 'text' : 'reasoning', text: `${index}` })[0]
}

test('an item copies none of those before it', () => {
  let state = initialState(headOf())
  for (let index = 0; index < maxBlocks; index++) {
    const { output, open } = state
    state = withText(state, index)
    if (open !== null) expect(state.output?.before).toBe(output)
  }
  expect(renderClosedItems(state)).toHaveLength(maxBlocks - 1)
})
