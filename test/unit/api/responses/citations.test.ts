import { expect, test } from 'bun:test'
import { decodeEvents, encodeEvents, foldLog } from '../../../../src/api/responses/events/event-log.ts'
import { toRunEvent } from '../../../../src/api/responses/events/run-event.ts'
import { renderResponse } from '../../../../src/api/responses/render/render-response.ts'
import { ended, finish, headOf, opening, renderedRun, runOf, runs, textDelta } from './support/step-cases.ts'

const pageOf = (title: string) => ({
  type: 'url_citation',
  url: 'https://river.example/gauge',
  title,
  start_index: 0,
  end_index: 2,
})

/** The events that have annotations, with their titles. */
function titlesIn(name: keyof typeof runs): readonly string[] {
  return renderedRun(...runs[name]!).flatMap((event) => {
    const titles = [...JSON.stringify(event).matchAll(/"title":"(\w)"/g)].map(([, title]) => title)
    return titles.length > 0 ? [`${event.type} ${titles.join('')}`] : []
  })
}

const done = ['response.content_part.done', 'response.output_item.done', 'response.completed']

test('the citations of a message are in its part once that is done, and in no event of their own', () => {
  expect(titlesIn('cited')).toEqual(done.map((type) => `${type} AB`))
  const types = (name: keyof typeof runs) => renderedRun(...runs[name]!).map(({ type }) => type)
  expect(types('cited')).toEqual(types('plain').toSpliced(5, 1))
  const last = renderedRun(...runs['cited']!).at(-1)!
  expect('response' in last && last.response.output).toMatchObject([
    { content: [{ text: 'Hi', annotations: [pageOf('A'), pageOf('B')] }] },
  ])
})

test('citations that come before a text belong to the next message alone', () => {
  expect(titlesIn('cited before its text')).toEqual(done.map((type) => `${type} A`))
})

test('a message in progress does not show its citations, as its events do not', () => {
  const [head, events] = runs['cited']!
  const { state } = runOf(head, events.slice(0, -2))
  const { output } = renderResponse(state, { openResponses: false, cacheWriteTokens: false })
  expect(output).toMatchObject([{ status: 'in_progress', content: [{ text: 'Hi', annotations: [] }] }])
})

test('citations without a text are not shown', () => {
  expect(titlesIn('cited without a text')).toEqual([])
  expect(renderedRun(...runs['cited without a text']!)).toEqual(renderedRun(...runs['empty']!))
})

test('a response that is read from its log has its citations, and one of an older log has none', () => {
  const [head, events] = runs['cited']!
  const log = encodeEvents(events)
  expect(decodeEvents(log)).toEqual([...events])
  const { output } = renderResponse(foldLog(head, log), { openResponses: false, cacheWriteTokens: false })
  expect(output).toMatchObject([{ content: [{ annotations: [pageOf('A'), pageOf('B')] }] }])
  const older = encodeEvents([...opening, textDelta('Hi'), finish('stop'), ended])
  const before = renderResponse(foldLog(headOf(), older), { openResponses: false, cacheWriteTokens: false })
  expect(before.output).toMatchObject([{ content: [{ annotations: [] }] }])
})

test('a response has the citations of the first choice alone', () => {
  const citation = { url: 'https://river.example', title: 'River', startIndex: 0, endIndex: 0 }
  expect(toRunEvent({ type: 'citations', choice: 0, citations: [citation] })).toEqual({
    type: 'citations',
    citations: [citation],
  })
  expect(toRunEvent({ type: 'citations', choice: 1, citations: [citation] })).toBeUndefined()
})
