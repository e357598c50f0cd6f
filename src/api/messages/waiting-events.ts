import type { GenerationEvent, ToolCallBegin } from '../../domain/generation/events.ts'

/** An event that waits until the open tool call ends: blocks do not overlap, but the calls of some providers do. */
export type Waiting = Exclude<GenerationEvent, { readonly type: `tool-call${string}` }> | WaitingCall

/** A call with all of its arguments up to now. */
export type WaitingCall = {
  readonly type: 'call'
  readonly begin: ToolCallBegin
  readonly arguments: string
  readonly ended: boolean
}

/** Returns the list with the event: what belongs to a waiting call or text is added to it. */
export function addToWaiting(waiting: readonly Waiting[], event: GenerationEvent): readonly Waiting[] {
  switch (event.type) {
    case 'tool-call-begin':
      return [...waiting, { type: 'call', begin: event, arguments: '', ended: false }]
    case 'tool-call-delta':
      return changeCall(waiting, event.index, (call) => ({
        ...call,
        arguments: call.arguments + event.arguments,
      }))
    case 'tool-call':
      return changeCall(waiting, event.index, (call) => ({ ...call, ended: true }))
    default:
      return addOther(waiting, event)
  }
}

function changeCall(
  waiting: readonly Waiting[],
  index: number,
  change: (call: WaitingCall) => WaitingCall,
): readonly Waiting[] {
  return waiting.map((item) => (item.type === 'call' && item.begin.index === index ? change(item) : item))
}

/** Successive pieces of text are one, so that the list stays short. */
function addOther(waiting: readonly Waiting[], event: Exclude<Waiting, WaitingCall>): readonly Waiting[] {
  const last = waiting.at(-1)
  if ((event.type === 'text' || event.type === 'reasoning') && last?.type === event.type)
    return [...waiting.slice(0, -1), { ...event, text: last.text + event.text }]
  return isRendered(event) ? [...waiting, event] : waiting
}

/** Usage and the like come often and leave no trace in the blocks. */
function isRendered({ type }: GenerationEvent): boolean {
  return type !== 'usage' && type !== 'ending' && type !== 'logprobs' && type !== 'failure'
}
