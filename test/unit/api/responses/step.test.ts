import { describe, expect, test } from 'bun:test'
import type { ResponseStreamEvent } from '../../../../src/api/responses/render/event-schema.ts'
import type { ResponseObject } from '../../../../src/api/responses/render/reply-schema.ts'
import {
  opening,
  created,
  ended,
  finish,
  headOf,
  message,
  reasoning,
  renderedRun,
  runOf,
  runs,
  textDelta,
  started,
} from './support/step-cases.ts'

const text = (content: string) => ({ type: 'output_text', text: content, annotations: [], logprobs: [] })
const summary = (content: string) => ({ type: 'summary_text', text: content })

/** What is told between the snapshots at both ends, without numbers. */
function between(name: keyof typeof runs): readonly object[] {
  return renderedRun(...runs[name]!).flatMap((event) => {
    if ('response' in event) return []
    const { sequence_number: _, ...fields } = event
    return [fields]
  })
}

/** The snapshots of a run, with the status of each. */
function snapshots(name: keyof typeof runs): readonly string[] {
  return renderedRun(...runs[name]!).flatMap((event) =>
    'response' in event ? [`${event.type} ${event.response.status}`] : [],
  )
}

function last(name: keyof typeof runs): ResponseObject {
  const event = renderedRun(...runs[name]!).at(-1)!
  if (!('response' in event)) throw new Error(`${event.type} ends the stream`)
  return event.response
}

function messageEvents(index: number, pieces: readonly string[], status = 'completed'): object[] {
  const id = message(index)
  const place = { item_id: id, output_index: index, content_index: 0 }
  const item = { id, type: 'message', role: 'assistant' }
  const complete = pieces.join('')
  return [
    {
      type: 'response.output_item.added',
      output_index: index,
      item: { ...item, status: 'in_progress', content: [] },
    },
    { type: 'response.content_part.added', ...place, part: text('') },
    ...pieces.map((delta) => ({ type: 'response.output_text.delta', ...place, delta, logprobs: [] })),
    { type: 'response.output_text.done', ...place, text: complete, logprobs: [] },
    { type: 'response.content_part.done', ...place, part: text(complete) },
    {
      type: 'response.output_item.done',
      output_index: index,
      item: { ...item, status, content: [text(complete)] },
    },
  ]
}

function reasoningEvents(index: number, pieces: readonly string[], cut: object = {}): object[] {
  const id = reasoning(index)
  const place = { item_id: id, output_index: index, summary_index: 0 }
  const complete = pieces.join('')
  const part = summary(complete)
  return [
    { type: 'response.output_item.added', output_index: index, item: { id, type: 'reasoning', summary: [] } },
    { type: 'response.reasoning_summary_part.added', ...place, part: summary('') },
    ...pieces.map((delta) => ({ type: 'response.reasoning_summary_text.delta', ...place, delta })),
    { type: 'response.reasoning_summary_text.done', ...place, text: complete },
    { type: 'response.reasoning_summary_part.done', ...place, part, ...cut },
    {
      type: 'response.output_item.done',
      output_index: index,
      item: { id, type: 'reasoning', summary: [part] },
    },
  ]
}

describe('the output is emitted delta by delta:', () => {
  test.each<[name: string, events: object[]]>([
    ['plain', messageEvents(0, ['Hi', ' there'])],
    ['reasoned', [...reasoningEvents(0, ['Hm', '.']), ...messageEvents(1, ['Hi'])]],
    [
      'interleaved',
      [
        ...reasoningEvents(0, ['a']),
        ...messageEvents(1, ['b']),
        ...reasoningEvents(2, ['c']),
        ...messageEvents(3, ['d']),
      ],
    ],
    ['cut by length', messageEvents(0, ['Hi'], 'incomplete')],
    ['cut while it reasons', reasoningEvents(0, ['Hm'], { status: 'incomplete' })],
    ['filtered', messageEvents(0, ['Hi'], 'incomplete')],
    ['background', messageEvents(0, ['Hi'])],
    ['cancelled before the start', []],
    ['cancelled in the middle', messageEvents(0, ['Hi'], 'incomplete')],
    ['empty', []],
  ])('%s', (name, events) => {
    expect(between(name)).toStrictEqual(events)
  })
})

describe('the response itself is emitted at its start and its end', () => {
  const beginning = ['response.created in_progress', 'response.in_progress in_progress']
  const queued = ['response.created queued', 'response.queued queued']

  test.each<[name: string, snapshots: string[]]>([
    ['plain', [...beginning, 'response.completed completed']],
    ['empty', [...beginning, 'response.completed completed']],
    ['cut by length', [...beginning, 'response.incomplete incomplete']],
    ['background', [...queued, 'response.in_progress in_progress', 'response.completed completed']],
    ['cancelled before the start', [...queued, 'response.incomplete incomplete']],
    [
      'cancelled in the middle',
      [...queued, 'response.in_progress in_progress', 'response.incomplete incomplete'],
    ],
    ['failed before anything', [...beginning, 'response.failed failed']],
  ])('for a run that is %s', (name, expected) => {
    expect(snapshots(name)).toEqual(expected)
  })

  test.each([
    ['cut by length', 'max_output_tokens'],
    ['cut while it reasons', 'max_output_tokens'],
    ['filtered', 'content_filter'],
    ['cancelled before the start', 'cancelled'],
    ['cancelled in the middle', 'cancelled'],
  ])('for a run that is %s, with the reason %p', (name, reason) => {
    expect(last(name)).toMatchObject({ incomplete_details: { reason }, completed_at: null, error: null })
  })

  test('with its output so far when the run is cancelled', () => {
    expect(last('cancelled in the middle').output).toMatchObject([{ content: [{ text: 'Hi' }] }])
  })

  test('with a completion time only for a complete output', () => {
    expect(last('plain')).toMatchObject({
      completed_at: 1_700_000_007,
      incomplete_details: null,
      error: null,
    })
  })

  test('with first snapshots that stay unchanged as the output grows', () => {
    const [first] = renderedRun(...runs.plain!)
    expect(first).toMatchObject({ response: { output: [], usage: null, completed_at: null } })
    expect(first).not.toHaveProperty('response.provider')
  })
})

describe('a failed run', () => {
  const error = {
    code: 'upstream_unavailable',
    message: 'The provider broke off (server error).',
    param: null,
  }

  test('emits its error nested and flat, and then in the response', () => {
    const [, , received, end] = renderedRun(...runs['failed before anything']!)
    expect(received).toStrictEqual({
      type: 'error',
      sequence_number: 2,
      ...error,
      error: { type: 'server_error', ...error },
    })
    expect(end).toMatchObject({
      type: 'response.failed',
      response: {
        output: [],
        usage: null,
        error: { code: 'server_error', message: 'The provider broke off.' },
      },
    })
  })

  test('keeps its output, and ends the item first', () => {
    expect(between('failed in the middle')).toStrictEqual([
      ...reasoningEvents(0, ['Hm']),
      ...messageEvents(1, ['Hi'], 'incomplete'),
      { type: 'error', ...error, error: { type: 'server_error', ...error } },
    ])
    expect(last('failed in the middle').output).toMatchObject([
      { type: 'reasoning' },
      { type: 'message', status: 'incomplete', content: [{ text: 'Hi' }] },
    ])
  })

  test.each([
    ['provider_key_rejected', null, 'server_error'],
    ['upstream_rate_limited', null, 'server_error'],
    ['upstream_rejected', null, 'invalid_request_error'],
    ['context_length_exceeded', null, 'invalid_request_error'],
    ['invalid_value', 'input', 'invalid_request_error'],
    ['insufficient_balance', null, 'insufficient_quota'],
  ])('of the code %s with param %p has the error type %s', (code, param, type) => {
    const failure = { type: 'failed', code, message: 'So it is.', param, usage: null } as const
    const received = renderedRun(headOf(), [created, started, failure])
    const facts = { code, message: 'So it is.', param }
    expect(received.at(-2)).toMatchObject({ type: 'error', ...facts, error: { type, ...facts } })
  })
})

test.each(Object.keys(runs))('after the end of a run (%s) nothing is emitted', (name) => {
  const [head, events] = runs[name]!
  const { state, told: received } = runOf(head, events)
  const more = runOf(head, [...events, textDelta('more'), ...opening, finish('length'), ended])
  expect(more.state).toEqual(state)
  expect(more.told).toEqual(received)
})

test('the sequence numbers begin at 0 without a gap', () => {
  const numbers = (events: readonly ResponseStreamEvent[]) => events.map((event) => event.sequence_number)
  for (const [head, events] of Object.values(runs)) {
    const received = renderedRun(head, events)
    expect(numbers(received)).toEqual([...received.keys()])
  }
})
