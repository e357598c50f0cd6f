import { expect, test } from 'bun:test'
import { renderResponse } from '../../../../src/api/responses/render/render-response.ts'
import { openResponse } from './support/open-response.ts'
import { headOf, renderedRun, runOf, runs } from './support/step-cases.ts'

test.each(Object.keys(runs))(
  'with open_responses enabled, each snapshot is an Open Responses object: %s',
  (name) => {
    for (const event of renderedRun(...runs[name]!, true)) {
      if ('response' in event) expect(openResponse.Errors(event.response)).toEqual([])
    }
  },
)

test('with open_responses enabled, the effective values replace missing ones', () => {
  const { state } = runOf(headOf(), [])
  const effective = { temperature: 1, top_p: 1, truncation: 'disabled' }
  const unsaid = { temperature: null, top_p: null, truncation: null }
  expect(renderResponse(state, { openResponses: true, cacheWriteTokens: false })).toMatchObject(effective)
  expect(renderResponse(state, { openResponses: false, cacheWriteTokens: false })).toMatchObject(unsaid)
})

test('without open_responses a snapshot is no Open Responses object, by just these three fields', () => {
  const unlike = openResponse.Errors(
    renderResponse(runOf(headOf(), []).state, { openResponses: false, cacheWriteTokens: false }),
  )
  expect(new Set(unlike.map(({ instancePath }) => instancePath))).toEqual(
    new Set(['/temperature', '/top_p', '/truncation']),
  )
})
