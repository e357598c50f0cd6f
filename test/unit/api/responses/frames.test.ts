import { expect, test } from 'bun:test'
import { renderFrame } from '../../../../src/api/responses/render/render-event.ts'
import {
  opening,
  headOf,
  message,
  reasoning,
  renderedRun,
  runOf,
  runs,
  textDelta,
  reasoningDelta,
} from './support/step-cases.ts'

const options = { openResponses: false, cacheWriteTokens: false }

test.each(Object.keys(runs))('each event is one complete frame that carries its name: %s', (name) => {
  const { told: received } = runOf(...runs[name]!)
  const rendered = renderedRun(...runs[name]!)
  for (const [index, event] of received.entries()) {
    const frame = renderFrame(event, options)
    const [, type, data] = /^event: ([a-z._]+)\ndata: ([^\n\r]+)\n\n$/.exec(frame) ?? []
    expect(type).toBe(rendered[index]?.type)
    expect(JSON.parse(data ?? 'null')).toEqual(rendered[index])
  }
})

test('text and reasoning deltas have this exact form', () => {
  const { told: received } = runOf(headOf(), [...opening, reasoningDelta('H"m'), textDelta('a\nb😀')])
  const deltas = received
    .filter(({ type }) => type === 'text_delta')
    .map((event) => renderFrame(event, options))
  expect(deltas).toEqual([
    'event: response.reasoning_summary_text.delta\n' +
      `data: {"type":"response.reasoning_summary_text.delta","sequence_number":4,"item_id":"${reasoning(0)}",` +
      '"output_index":0,"summary_index":0,"delta":"H\\"m"}\n\n',
    'event: response.output_text.delta\n' +
      `data: {"type":"response.output_text.delta","sequence_number":10,"item_id":"${message(1)}",` +
      '"output_index":1,"content_index":0,"delta":"a\\nb😀","logprobs":[]}\n\n',
  ])
})

test('half a surrogate pair is escaped, because it has no UTF-8 encoding', () => {
  const event = runOf(headOf(), [...opening, textDelta('\ud83d')]).told.at(-1)!
  const frame = renderFrame(event, options)
  expect(frame).toContain('"delta":"\\ud83d"')
  expect(new TextDecoder().decode(new TextEncoder().encode(frame))).toBe(frame)
})

test('an event that is not a failure has no error at its top level, on which clients would throw', () => {
  for (const [head, events] of Object.values(runs)) {
    for (const event of renderedRun(head, events)) {
      expect('error' in event).toBe(event.type === 'error')
    }
  }
})

test('the settings of the gateway apply to the snapshots', () => {
  const [event] = runOf(...runs.plain!).told
  expect(renderFrame(event!, { openResponses: true, cacheWriteTokens: false })).toContain('"temperature":1,')
  expect(renderFrame(event!, options)).toContain('"temperature":null,')
})
