import { describe, expect, test } from 'bun:test'
import { initialState } from '../../../../src/api/responses/events/state.ts'
import { renderResponse } from '../../../../src/api/responses/render/render-response.ts'
import {
  answering,
  opening,
  cancelled,
  created,
  ended,
  finish,
  headOf,
  message,
  reasoning,
  runOf,
  runs,
  textDelta,
  started,
  reasoningDelta,
  usage,
} from './support/step-cases.ts'

const plain = { openResponses: false, cacheWriteTokens: false }

const rendered = (...run: Parameters<typeof runOf>) => renderResponse(runOf(...run).state, plain)

test('a complete response has every field, and no other', () => {
  expect(rendered(...runs.reasoned!)).toStrictEqual({
    id: headOf().id,
    object: 'response',
    created_at: 1_700_000_000,
    status: 'completed',
    background: false,
    completed_at: 1_700_000_007,
    error: null,
    incomplete_details: null,
    model: 'acme/river',
    provider: 'acme',
    output: [
      { id: reasoning(0), type: 'reasoning', summary: [{ type: 'summary_text', text: 'Hm.' }] },
      {
        id: message(1),
        type: 'message',
        status: 'completed',
        role: 'assistant',
        content: [{ type: 'output_text', text: 'Hi', annotations: [], logprobs: [] }],
      },
    ],
    instructions: null,
    max_output_tokens: null,
    parallel_tool_calls: true,
    previous_response_id: null,
    reasoning: null,
    store: true,
    temperature: null,
    top_p: null,
    truncation: null,
    text: { format: { type: 'text' } },
    tool_choice: 'auto',
    tools: [],
    service_tier: 'default',
    presence_penalty: 0,
    frequency_penalty: 0,
    top_logprobs: 0,
    max_tool_calls: null,
    safety_identifier: null,
    prompt_cache_key: null,
    user: null,
    usage: {
      input_tokens: 9,
      input_tokens_details: { cached_tokens: 4 },
      output_tokens: 5,
      output_tokens_details: { reasoning_tokens: 2 },
      total_tokens: 14,
    },
    metadata: {},
  })
})

test('a response echoes the parameters as they were requested', () => {
  const requested = {
    background: true,
    store: false,
    instructions: 'Be brief.',
    max_output_tokens: 7,
    temperature: 0,
    top_p: 0.5,
    parallel_tool_calls: false,
    previous_response_id: 'resp_1',
    reasoning: { effort: 'low', summary: null },
    text: { format: { type: 'json_object' }, verbosity: 'low' },
    tool_choice: 'none',
    truncation: 'auto',
    metadata: { bank: 'left' },
    user: 'ada',
  } as const
  expect(renderResponse(initialState(headOf(requested)), plain)).toMatchObject(requested)
  expect(
    renderResponse(initialState(headOf(requested)), { openResponses: true, cacheWriteTokens: false }),
  ).toMatchObject(requested)
})

test('a growing item is rendered in its current state', () => {
  expect(
    rendered(headOf(), [...opening, reasoningDelta('Hm'), textDelta('Hi'), textDelta(' th')]),
  ).toMatchObject({
    status: 'in_progress',
    usage: null,
    output: [
      { type: 'reasoning', summary: [{ text: 'Hm' }] },
      { type: 'message', status: 'in_progress', content: [{ text: 'Hi th' }] },
    ],
  })
})

describe('the service tier of a response', () => {
  test.each([
    ['is auto until the end', undefined, [...opening], 'auto'],
    ['is the requested one until the end', 'flex', [...opening], 'flex'],
    ['is default at the end where no other was reported', 'flex', [...opening, ended], 'default'],
    ['is at the end the one that served', undefined, [...opening, tier('priority'), ended], 'priority'],
  ] as const)('%s', (_, requested, events, shown) => {
    expect(rendered(headOf({ service_tier: requested }), events).service_tier).toBe(shown)
  })

  function tier(served: 'priority') {
    return { type: 'tier', tier: served } as const
  }
})

describe('the usage of a response', () => {
  const counts = (input: number, output: number, cached = 0, reasoned = 0) => ({
    input_tokens: input,
    input_tokens_details: { cached_tokens: cached },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: reasoned },
    total_tokens: input + output,
  })
  const failure = { type: 'failed', code: 'upstream_timeout', message: 'Late.', param: null } as const
  const few = { promptTokens: 3, completionTokens: 2, estimated: false }

  test.each([
    ['is null while it runs', opening, null],
    ['of a cancelled run of which nothing is known is zero', [created, cancelled], counts(0, 0)],
    ['of a failed run of which nothing is known is null', [created, { ...failure, usage: null }], null],
    ['of a failed run is told where it is known', [created, { ...failure, usage: few }], counts(3, 2)],
    ['has both details where the provider told none', [created, { ...ended, usage: few }], counts(3, 2)],
    [
      'has no detail that is more than the whole',
      [created, { ...ended, usage: { ...few, cachedTokens: 9, reasoningTokens: 9 } }],
      counts(3, 2, 3, 2),
    ],
  ] as const)('%s', (_, events, expected) => {
    expect(rendered(headOf(), events).usage).toEqual(expected)
  })
})

describe('the warnings of a response', () => {
  const guessed = 'The provider reported no usage; the token counts are estimated.'

  test('are those of the request, of the upstream request, and of the usage', () => {
    const lossy = { ...answering, warnings: ['The top_k was dropped.'] }
    const estimated = { ...ended, usage: { ...usage, estimated: true } }
    const head = headOf({ warnings: ['The conversation was ignored.'] })
    const more = { ...answering, warnings: ['The detail was ignored.'] }
    expect(rendered(head, [created, started, lossy, more, finish('stop'), estimated]).warnings).toEqual([
      'The conversation was ignored.',
      'The top_k was dropped.',
      'The detail was ignored.',
      guessed,
    ])
  })

  test('are omitted where there are none', () => {
    expect(rendered(...runs.plain!)).not.toHaveProperty('warnings')
  })
})

test('a response without a provider names none', () => {
  expect(rendered(...runs['failed before anything']!)).not.toHaveProperty('provider')
})

describe('the error code of a failed response', () => {
  test.each([
    ['upstream_rate_limited', 'rate_limit_exceeded'],
    ['upstream_unavailable', 'server_error'],
    ['internal_error', 'server_error'],
    ['upstream_rejected', 'invalid_prompt'],
    ['context_length_exceeded', 'context_length_exceeded'],
    ['provider_key_rejected', 'provider_key_rejected'],
  ])('for %s is %s', (code, shown) => {
    const failure = { type: 'failed', code, message: 'So it is.', param: null, usage: null } as const
    expect(rendered(headOf(), [created, failure]).error).toEqual({ code: shown, message: 'So it is.' })
  })
})
