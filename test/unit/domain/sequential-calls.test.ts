import { describe, expect, test } from 'bun:test'
import type { GenerationEvent } from '../../../src/domain/generation/events.ts'
import { SequentialCalls } from '../../../src/domain/generation/sequential-calls.ts'

const begin = (index: number): GenerationEvent => {
  return { type: 'tool-call-begin', choice: 0, index, id: `call_${index}`, name: 'read' }
}
const fragment = (index: number, text = '{}'): GenerationEvent => {
  return { type: 'tool-call-delta', choice: 0, index, arguments: text }
}
const end = (index: number): GenerationEvent => {
  const call = { id: `call_${index}`, name: 'read', arguments: '{}' }
  return { type: 'tool-call', choice: 0, index, call }
}
const text: GenerationEvent = { type: 'text', choice: 0, text: 'a' }
const finish: GenerationEvent = { type: 'finish', choice: 0, reason: 'tool_calls' }

/** What is passed on for each of the events. */
function passed(events: readonly GenerationEvent[]) {
  const sequence = new SequentialCalls()
  return events.map((event) => sequence.next(event))
}

describe('tool calls that a model makes in turns are put in sequence', () => {
  test('each with all of its fragments, and with what came between them after it', () => {
    const events = [begin(0), begin(1), fragment(1), text, fragment(0), end(0), fragment(1), end(1), text]
    expect(passed(events)).toEqual([
      [begin(0)],
      [],
      [],
      [],
      [fragment(0)],
      [end(0), begin(1), fragment(1)],
      [fragment(1)],
      [end(1), text],
      [text],
    ])
  })

  test('that end in another order than they begin', () => {
    const events = [begin(0), begin(1), begin(2), end(2), end(1), end(0), finish]
    expect(passed(events)).toEqual([
      [begin(0)],
      [],
      [],
      [],
      [],
      [end(0), begin(1), end(1), begin(2), end(2)],
      [finish],
    ])
  })

  test('that are cut off, with the text first', () => {
    const events = [begin(0), begin(1), begin(2), fragment(2), text, fragment(1), finish]
    expect(passed(events).at(-1)).toEqual([text, begin(1), fragment(1), begin(2), fragment(2), finish])
  })

  test('in a time that grows with their number alone', () => {
    // What grows with its square does not end within the time of a test.
    const count = 100_000
    const indexes = Array.from({ length: count }, (_, index) => index)
    const events = [...indexes.map(begin), ...indexes.map((index) => fragment(index)), ...indexes.map(end)]
    expect(passed(events).flat()).toHaveLength(3 * count)
  })
})
