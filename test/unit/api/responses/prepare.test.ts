import { expect, test } from 'bun:test'
import { ApiError } from '../../../../src/lib/errors/errors.ts'
import { headOf } from '../../../../src/api/responses/request/head.ts'
import { inputItems } from '../../../../src/api/responses/request/items.ts'
import { prepareRequest } from '../../../../src/api/responses/request/lower.ts'
import { type ResponseRequest, responseRequest } from '../../../../src/api/responses/request/schema.ts'
import { modelsWith } from '../../gateway/support/model-fixtures.ts'

const input = { id: `resp_${'a'.repeat(32)}`, createdAt: 77, slug: 'alpha/one', warnings: ['Hm.'] }

function requestOf(patch: object): ResponseRequest {
  return responseRequest.read({ model: 'one', input: 'Hello', ...patch })
}

/** `alpha/one` takes a temperature and nothing else. */
function prepared(patch: object, unsupported: 'reject' | 'drop' = 'drop') {
  const request = requestOf(patch)
  const conversation = { context: [], input: inputItems(request.input, input.id) }
  return prepareRequest(request, conversation, modelsWith(), { unsupported, functionTools: false })
}

test('the model of a response is found by any of its names', () => {
  const { slug, model, generation, warnings } = prepared({ temperature: 0.5 })
  expect([slug, model.slug]).toEqual(['alpha/one', 'alpha/one'])
  expect(generation.temperature).toBe(0.5)
  expect(warnings).toEqual([])
})

test('an unsupported parameter is ignored under the name that the client used, after other warnings', () => {
  const patch = { max_output_tokens: 5, text: { format: { type: 'json_object' } }, truncation: 'auto' }
  const { generation, warnings } = prepared(patch)
  expect([generation.maxTokens, generation.format]).toEqual([undefined, undefined])
  expect(warnings.slice(1)).toEqual([
    'Parameters `max_output_tokens` and `text.format` are not supported by alpha/one and were ignored.',
  ])
  expect(warnings[0]).toContain('truncation')
})

test.each([
  [{ model: 'nobody/knows' }, 404, 'model', 'model_not_found'],
  [{ model: 'nobody/knows', tools: [{ type: 'a' }] }, 404, 'model', 'model_not_found'],
  [{ reasoning: { effort: 'high' } }, 400, 'reasoning.effort', 'unsupported_parameter'],
  [{ max_output_tokens: 5 }, 400, 'max_output_tokens', 'unsupported_parameter'],
  [{ tools: [{ type: 'a' }] }, 400, 'tools', 'unsupported_parameter'],
])('a response with %j is rejected', (patch, status, param, code) => {
  let refusal: unknown
  try {
    prepared(patch, 'reject')
  } catch (error) {
    refusal = error
  }
  expect(refusal).toBeInstanceOf(ApiError)
  expect(refusal).toMatchObject({ status, param, code })
})

test('a response echoes the requested parameters, or the defaults', () => {
  expect(headOf(requestOf({}), input)).toEqual({
    id: input.id,
    created_at: 77,
    model: 'alpha/one',
    background: false,
    store: true,
    instructions: null,
    max_output_tokens: null,
    temperature: null,
    top_p: null,
    parallel_tool_calls: true,
    previous_response_id: null,
    reasoning: null,
    text: { format: { type: 'text' } },
    tool_choice: 'auto',
    truncation: null,
    metadata: {},
    user: null,
    warnings: ['Hm.'],
  })
})

test('a response echoes every requested parameter', () => {
  const requested = {
    background: true,
    store: false,
    instructions: 'Be brief.',
    max_output_tokens: 5,
    temperature: 0,
    top_p: 0,
    parallel_tool_calls: false,
    previous_response_id: 'resp_1',
    reasoning: { effort: 'low', summary: 'auto' },
    text: { format: { type: 'json_schema', name: 'n', schema: {} }, verbosity: 'low' },
    tool_choice: 'none',
    truncation: 'auto',
    metadata: { a: [1] },
    user: 'Ada',
    service_tier: 'flex',
  } as const
  expect(headOf(requestOf(requested), input)).toMatchObject(requested)
})

test('a response echoes both fields of reasoning, and a format in any case', () => {
  const request = requestOf({ reasoning: { effort: 'low' }, text: { verbosity: 'low', format: null } })
  const head = headOf(request, input)
  expect(head.reasoning).toEqual({ effort: 'low', summary: null })
  expect(head.text as unknown).toEqual({ verbosity: 'low', format: { type: 'text' } })
})

test('the head of a response survives its storage as JSON', () => {
  const head = headOf(requestOf({ service_tier: 'unheard of', tool_choice: null }), input)
  expect(JSON.parse(JSON.stringify(head))).toEqual(head)
  expect(head).not.toHaveProperty('service_tier')
  expect(head.tool_choice).toBe('auto')
})
