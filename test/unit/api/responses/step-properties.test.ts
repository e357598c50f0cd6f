import { expect, test } from 'bun:test'
import { testSeed } from '../../../support/seed.ts'
import { Compile } from 'typebox/compile'
import { step } from '../../../../src/api/responses/events/reduce.ts'
import { initialState } from '../../../../src/api/responses/events/state.ts'
import { ResponseStreamEvent } from '../../../../src/api/responses/render/event-schema.ts'
import { renderResponse } from '../../../../src/api/responses/render/render-response.ts'
import { ResponseObject } from '../../../../src/api/responses/render/reply-schema.ts'
import { randomFrom } from '../../providers/protocols/support/random.ts'
import { renderedRun, runOf, runs } from './support/step-cases.ts'
import { assemble } from './support/step-order.ts'
import { randomRun } from './support/step-random.ts'

const random = randomFrom(testSeed)
/** Every kind of run, and many at random; the seed is in each name, so that a failure can be repeated. */
const all = [...Object.values(runs), ...Array.from({ length: 400 }, () => randomRun(random))]

const options = { openResponses: false, cacheWriteTokens: false }

test(`the sequence numbers begin at 0 without a gap (seed ${testSeed})`, () => {
  for (const [head, events] of all) {
    const received = renderedRun(head, events)
    expect(received.map((event) => event.sequence_number)).toEqual([...received.keys()])
  }
})

test(`the deltas come in order and add up to the output of the terminal event (seed ${testSeed})`, () => {
  for (const [head, events] of all) {
    const { output, end } = assemble(renderedRun(head, events))
    if (end !== undefined) expect(output).toEqual(end.output)
  }
})

test(`the terminal event has the response that is retrieved later (seed ${testSeed})`, () => {
  let ends = 0
  for (const [head, events] of all) {
    const { state, told: received } = runOf(head, events)
    const { end } = assemble(renderedRun(head, events))
    expect(end === undefined).toBe(state.status === 'in_progress' || state.status === 'queued')
    if (end === undefined) continue
    ends++
    expect(renderResponse(state, options)).toEqual(end)
    expect(received.at(-1)?.sequence).toBe(state.sequence - 1)
  }
  expect(ends).toBeGreaterThan(100)
})

test(`a step never modifies its input, and equal inputs give equal results (seed ${testSeed})`, () => {
  for (const [head, events] of all) {
    let state = frozen(initialState(head))
    for (const event of events) {
      const [next, received] = step(state, frozen(event))
      expect(step(state, event)).toEqual([next, received])
      frozen(received)
      state = frozen(next)
    }
  }
})

test(`every event, and the response after every event, matches its schema (seed ${testSeed})`, () => {
  const eventCheck = Compile(ResponseStreamEvent)
  const responseCheck = Compile(ResponseObject)
  for (const [head, events] of all) {
    for (const openResponses of [false, true]) {
      let state = initialState(head)
      for (const event of events) {
        state = step(state, event)[0]
        const written: unknown = JSON.parse(
          JSON.stringify(renderResponse(state, { openResponses, cacheWriteTokens: openResponses })),
        )
        if (!responseCheck.Check(written)) expect(responseCheck.Errors(written)).toEqual([])
      }
      for (const event of renderedRun(head, events, openResponses)) {
        const written: unknown = JSON.parse(JSON.stringify(event))
        if (!eventCheck.Check(written)) expect(eventCheck.Errors(written)).toEqual([])
      }
    }
  }
})

/** Its changing throws from here on. */
function frozen<Value>(value: Value): Value {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value
  Object.freeze(value)
  for (const field of Object.values(value)) frozen(field)
  return value
}
