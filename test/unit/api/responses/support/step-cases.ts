import { step } from '../../../../../src/api/responses/events/reduce.ts'
import type { RunEvent, RunUsage } from '../../../../../src/api/responses/events/run-event.ts'
import {
  initialState,
  type ResponseState,
  type StreamEvent,
} from '../../../../../src/api/responses/events/state.ts'
import type { ResponseStreamEvent } from '../../../../../src/api/responses/render/event-schema.ts'
import { renderEvent } from '../../../../../src/api/responses/render/render-event.ts'
import type { ResponseHead } from '../../../../../src/api/responses/request/head.ts'

const digits = '0190f3a1b2c37d4e8f9a0b1c2d3e4f50'

/** The head of a response to a plain question. */
export function headOf(input: Partial<ResponseHead> = {}): ResponseHead {
  return {
    id: `resp_${digits}`,
    created_at: 1_700_000_000,
    model: 'acme/river',
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
    warnings: [],
    ...input,
  }
}

/** The ids that the items of these responses get, by their places. */
export const message = (index: number) => `msg_${digits}0${index}`
export const reasoning = (index: number) => `rs_${digits}0${index}`

export const usage: RunUsage = {
  promptTokens: 9,
  completionTokens: 5,
  cachedTokens: 4,
  reasoningTokens: 2,
  estimated: false,
}

export const created: RunEvent = { type: 'created' }
export const started: RunEvent = { type: 'started' }
export const answering: RunEvent = { type: 'answering', provider: 'acme', warnings: [] }
export const textDelta = (text: string): RunEvent => ({ type: 'text', text })
export const reasoningDelta = (text: string): RunEvent => ({ type: 'reasoning', text })
export const citations = (title: string): RunEvent => ({
  type: 'citations',
  citations: [{ url: 'https://river.example/gauge', title, startIndex: 0, endIndex: 2 }],
})
export const finish = (reason: 'stop' | 'length' | 'content_filter'): RunEvent => ({ type: 'finish', reason })
export const ended: RunEvent = { type: 'ended', at: 1_700_000_007, usage }
export const cancelled: RunEvent = { type: 'cancelled', usage: null }
export const failed: RunEvent = {
  type: 'failed',
  code: 'upstream_unavailable',
  message: 'The provider broke off.',
  param: null,
  usage: null,
}

/** The start of a run that produces a message. */
export const opening: readonly RunEvent[] = [created, started, answering]

/** Runs of every kind, with the head that each has. */
export const runs: Readonly<Record<string, readonly [head: ResponseHead, events: readonly RunEvent[]]>> = {
  plain: [headOf(), [...opening, textDelta('Hi'), textDelta(' there'), finish('stop'), ended]],
  reasoned: [
    headOf(),
    [...opening, reasoningDelta('Hm'), reasoningDelta('.'), textDelta('Hi'), finish('stop'), ended],
  ],
  interleaved: [
    headOf(),
    [
      ...opening,
      reasoningDelta('a'),
      textDelta('b'),
      reasoningDelta('c'),
      textDelta('d'),
      finish('stop'),
      ended,
    ],
  ],
  cited: [headOf(), [...opening, textDelta('Hi'), citations('A'), citations('B'), finish('stop'), ended]],
  'cited before its text': [
    headOf(),
    [
      ...opening,
      citations('A'),
      reasoningDelta('Hm'),
      textDelta('Hi'),
      reasoningDelta('Hm'),
      textDelta('Ho'),
      finish('stop'),
      ended,
    ],
  ],
  'cited without a text': [headOf(), [...opening, citations('A'), finish('stop'), ended]],
  'cut by length': [headOf(), [...opening, textDelta('Hi'), finish('length'), ended]],
  'cut while it reasons': [headOf(), [...opening, reasoningDelta('Hm'), finish('length'), ended]],
  filtered: [headOf(), [...opening, textDelta('Hi'), finish('content_filter'), ended]],
  background: [headOf({ background: true }), [...opening, textDelta('Hi'), finish('stop'), ended]],
  'cancelled before the start': [headOf({ background: true }), [created, cancelled]],
  'cancelled in the middle': [headOf({ background: true }), [...opening, textDelta('Hi'), cancelled]],
  'failed before anything': [headOf(), [created, started, failed]],
  'failed in the middle': [headOf(), [...opening, reasoningDelta('Hm'), textDelta('Hi'), failed]],
  empty: [headOf(), [...opening, textDelta(''), reasoningDelta(''), finish('stop'), ended]],
}

/** A run step by step: its response, and the emitted events. */
export function runOf(
  head: ResponseHead,
  events: readonly RunEvent[],
): { readonly state: ResponseState; readonly told: readonly StreamEvent[] } {
  const received: StreamEvent[] = []
  let state = initialState(head)
  for (const event of events) {
    const [next, news] = step(state, event)
    state = next
    received.push(...news)
  }
  return { state, told: received }
}

/** What the readers of a run's stream see. */
export function renderedRun(
  head: ResponseHead,
  events: readonly RunEvent[],
  openResponses = false,
): readonly ResponseStreamEvent[] {
  return runOf(head, events).told.map((event) =>
    renderEvent(event, { openResponses, cacheWriteTokens: openResponses }),
  )
}
