import type { Generation, Message } from '../../../../../src/domain/generation/request.ts'
import type { Target } from '../../../../../src/providers/protocols/protocol.ts'
import { protocolNamed } from './chunks.ts'
import { plainGeneration } from './generations.ts'

/** A request as it is sent to the provider, and its warnings. */
export type Rendered = {
  readonly body: Readonly<Record<string, unknown>>
  readonly messages: readonly { readonly role: string; readonly content: readonly object[] }[]
  readonly warnings: readonly string[]
}

/** The plain question with these changes, for this model. */
export function render(
  changes: Partial<Generation>,
  model: string = 'claude-sonnet-4-5',
  target: Partial<Target> = {},
  kind: string = 'anthropic',
): Rendered {
  const warnings: string[] = []
  const generation = { ...plainGeneration, ...changes }
  const full = { model, stream: false, ...target }
  const body = protocolNamed(kind).render(generation, full, (message) => warnings.push(message))
  const sent = JSON.parse(JSON.stringify(body))
  return { body: sent, messages: sent.messages, warnings }
}

/** A user message with this text. */
export function textMessage(role: 'system' | 'developer' | 'user', text: string): Message {
  return { role, parts: [{ type: 'text', text }] }
}

/** A turn of the model with calls of `f`; the first of them with this state. */
export function callsMessage(ids: readonly string[], state?: object, text = ''): Message {
  const stateOf = (index: number) => (index === 0 && state ? JSON.parse(JSON.stringify(state)) : undefined)
  const toolCalls = ids.map((id, index) => ({ id, name: 'f', arguments: '{}', state: stateOf(index) }))
  return { role: 'assistant', parts: text === '' ? [] : [{ type: 'text', text }], toolCalls }
}

/** The result of the call with this id. */
export function resultMessage(callId: string, text = 'done'): Message {
  return { role: 'tool', callId, parts: [{ type: 'text', text }] }
}

export const tool = { name: 'f', description: 'Does it.', parameters: { type: 'object', properties: {} } }
