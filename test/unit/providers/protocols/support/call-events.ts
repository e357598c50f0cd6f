import { expect } from 'bun:test'
import type { GenerationEvent } from '../../../../../src/domain/generation/events.ts'

/** A tool call of which the end has not come. */
export type CutCall = { readonly id: string; readonly name: string; text: string }

/**
 * Checks the contract of tool calls in every protocol: each starts once, with the next index of its choice and an id of
 * its own, its fragments add up to the whole call that ends it, and ends come in the order of the indexes. Returns the
 * calls that have begun and not ended.
 */
export function expectOrderlyCalls(events: readonly GenerationEvent[]): readonly CutCall[] {
  const choices: ChoiceCalls[] = []
  for (const event of events) {
    if (!('choice' in event) || event.type === 'text' || event.type === 'reasoning') continue
    const calls = (choices[event.choice] ??= { begun: [], ended: 0 })
    if (event.type === 'tool-call-begin') begin(calls, event)
    if (event.type === 'tool-call-delta') grow(calls, event)
    if (event.type === 'tool-call') end(calls, event)
  }
  return choices.flatMap(({ begun: opening, ended }) => opening.slice(ended))
}

type ChoiceCalls = { readonly begun: CutCall[]; ended: number }
type Event<Type extends GenerationEvent['type']> = Extract<GenerationEvent, { readonly type: Type }>

function begin({ begun: opening }: ChoiceCalls, { index, id, name }: Event<'tool-call-begin'>): void {
  expect(index).toBe(opening.length)
  expect(opening.map((call) => call.id)).not.toContain(id)
  expect([id, name]).not.toContain('')
  opening.push({ id, name, text: '' })
}

function grow(
  { begun: opening, ended }: ChoiceCalls,
  { index, arguments: text }: Event<'tool-call-delta'>,
): void {
  expect(text).not.toBe('')
  expect(index).toBeGreaterThanOrEqual(ended)
  expect(opening[index]).toBeDefined()
  opening[index]!.text += text
}

function end(calls: ChoiceCalls, { index, call }: Event<'tool-call'>): void {
  expect(index).toBe(calls.ended)
  const { id, name, text } = calls.begun[index] ?? {}
  expect({ id, name, arguments: text }).toEqual(call)
  calls.ended += 1
}
