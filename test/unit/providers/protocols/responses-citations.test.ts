import { expect, test } from 'bun:test'
import type { Citation, GenerationEvent } from '../../../../src/domain/generation/events.ts'
import { responses } from '../../../../src/providers/protocols/responses/protocol.ts'
import { readStream } from './support/parsed-reply.ts'

const [gauge, weir] = ['https://river.example/gauge', 'https://river.example/weir']
const cited = { type: 'url_citation', url: gauge, title: 'Gauge', start_index: 3, end_index: 8 }
const other = { type: 'url_citation', url: weir }
const citation: Citation = { url: gauge, title: 'Gauge', startIndex: 3, endIndex: 8 }
const otherCitation: Citation = { url: weir, title: weir, startIndex: 0, endIndex: 0 }

const message = (...annotations: object[]) => ({
  type: 'message',
  content: [{ type: 'output_text', text: 'Hi', annotations }],
})
const delta = { type: 'response.output_text.delta', delta: 'Hi' }
const added = (annotation: unknown) => ({ type: 'response.output_text.annotation.added', annotation })
const done = (item: object) => ({ type: 'response.output_item.done', output_index: 0, item })
const completed = (...output: object[]) => ({
  type: 'response.completed',
  response: { status: 'completed', output },
})

function eventsOf(...input: object[]): readonly GenerationEvent[] {
  const frames = input.map((event) => `data: ${JSON.stringify(event)}\n\n`)
  return readStream(responses, Buffer.from(frames.join('')))
}

const citationsIn = (events: readonly GenerationEvent[]) =>
  events.flatMap((event) => (event.type === 'citations' ? event.citations : []))
const typesOf = (events: readonly GenerationEvent[]) => events.map(({ type }) => type)

test('the annotations of a message are citations, behind its text', () => {
  const call = { type: 'function_call', call_id: 'a', name: 'f', arguments: '{}' }
  const events = responses.parse({ status: 'completed', output: [message(cited, other), call] })
  expect(citationsIn(events)).toEqual([citation, otherCitation])
  expect(typesOf(events).slice(0, 3)).toEqual(['text', 'citations', 'tool-call-begin'])
})

test('an annotation is emitted once, where its event is followed by the message and the response', () => {
  const whole = message(cited, other)
  const events = eventsOf(delta, added(cited), added(other), done(whole), completed(whole))
  expect(typesOf(events)).toEqual(['text', 'citations', 'citations', 'finish'])
  expect(citationsIn(events)).toEqual([citation, otherCitation])
})

test.each([
  ['message', [delta, done(message(cited)), completed()]],
  ['response', [delta, completed(message(cited))]],
])('an annotation without an event of its own is that of the %s', (_, input) => {
  const events = eventsOf(...input)
  expect(typesOf(events)).toEqual(['text', 'citations', 'finish'])
  expect(citationsIn(events)).toEqual([citation])
})

test.each<[string, unknown]>([
  ['nothing', undefined],
  ['a file', { type: 'file_citation', file_id: 'file_1', filename: 'a.pdf' }],
  ['another scheme', { ...cited, url: 'file:///etc/passwd' }],
  ['no URL', { ...cited, url: null }],
])('an annotation that cites %s causes no event', (_, annotation) => {
  expect(typesOf(eventsOf(delta, added(annotation), completed(message())))).toEqual(['text', 'finish'])
})

test('200 annotations at most are emitted, and no annotation of a reasoning item', () => {
  const many = Array.from({ length: 300 }, (_, index) => ({ ...cited, start_index: index }))
  const reasoning = { ...message(cited), type: 'reasoning', summary: [] }
  expect(citationsIn(eventsOf(delta, done(message(...many)), completed(message(...many))))).toHaveLength(200)
  expect(citationsIn(eventsOf(delta, ...many.map(added), completed()))).toHaveLength(200)
  expect(citationsIn(eventsOf(delta, done(reasoning), completed(reasoning)))).toEqual([])
})
