import { expect, test } from 'bun:test'
import { testSeed } from '../../../support/seed.ts'
import { decodeEvents, encodeEvents, foldLog } from '../../../../src/api/responses/events/event-log.ts'
import type { RunEvent } from '../../../../src/api/responses/events/run-event.ts'
import { itemsOf } from '../../../../src/api/responses/events/state.ts'
import { randomFrom } from '../../providers/protocols/support/random.ts'
import {
  opening,
  cancelled,
  ended,
  finish,
  headOf,
  runOf,
  runs,
  textDelta,
  reasoningDelta,
} from './support/step-cases.ts'
import { randomRun } from './support/step-random.ts'

const random = randomFrom(testSeed)
const all = [...Object.values(runs), ...Array.from({ length: 400 }, () => randomRun(random))]

/** The text as a database gives it back that keeps UTF-8. */
const stored = (text: string) => new TextDecoder().decode(new TextEncoder().encode(text))

/** A list in pieces that are cut anywhere, some of them empty. */
function piecesOf<Item>(items: readonly Item[]): (readonly Item[])[] {
  const count = Math.floor(random() * 6)
  const cuts = Array.from({ length: count }, () => Math.floor(random() * (items.length + 1)))
  const ends = [...cuts.toSorted((a, b) => a - b), items.length]
  return ends.map((end, index) => items.slice(ends[index - 1] ?? 0, end))
}

test(`the event log is read as it was written, however it was split (seed ${testSeed})`, () => {
  for (const [, events] of all) {
    const log = piecesOf(events).map((piece) => stored(encodeEvents(piece)))
    expect(decodeEvents(log.join(''))).toEqual([...events])
  }
})

test(`a response built at once equals the one built step by step, its numbers too (seed ${testSeed})`, () => {
  for (const [head, events] of all) {
    const { state } = runOf(head, events)
    const log = piecesOf(events).map((piece) => stored(encodeEvents(piece)))
    expect(foldLog(head, log.join(''))).toEqual(state)
  }
})

test('an empty event log is empty', () => {
  expect(encodeEvents([])).toBe('')
  expect(decodeEvents('')).toEqual([])
  expect(foldLog(headOf(), '').sequence).toBe(0)
})

test('a character that was split over two deltas is complete in the output, and split in the log', () => {
  const [high, low] = ['\ud83d', '\ude00']
  const events = [...opening, textDelta(high), textDelta(low), finish('stop'), ended]
  const torn = events.map((event) => stored(encodeEvents([event]))).join('')
  for (const log of [torn, stored(encodeEvents(events))]) {
    expect(decodeEvents(log)).toEqual(events)
    expect(itemsOf(foldLog(headOf(), log).output)).toMatchObject([{ text: '😀' }])
  }
})

test('each entry is a line, and only a run of deltas has their lengths', () => {
  expect(encodeEvents([textDelta('a'), reasoningDelta('Hm'), reasoningDelta('.'), ended])).toBe(
    '{"type":"text","text":"a"}\n' +
      '{"type":"reasoning","text":"Hm.","lengths":[2,1]}\n' +
      `${JSON.stringify(ended)}\n`,
  )
})

test('consecutive deltas cost little more than their text', () => {
  const words = ['the ', 'river ', 'flows\n', 'on, ', 'qui', 'et', 'ly ', 'down ']
  const deltas = Array.from({ length: 5000 }, (_, index) => textDelta(words[index % words.length]!))
  const text = deltas.reduce((length, event) => length + ('text' in event ? event.text.length : 0), 0)
  const events: RunEvent[] = [...opening, reasoningDelta('Hm'), ...deltas, finish('stop'), cancelled]
  expect(text).toBeGreaterThan(18_000)
  expect(Buffer.byteLength(encodeEvents(events))).toBeLessThan(35_000)
})
