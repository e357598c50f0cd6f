import type { Citation, FinishReason, GenerationEvent, Usage } from '../../../domain/generation/events.ts'
import { ApiError, internalError } from '../../../lib/errors/errors.ts'

/**
 * An event of a response, in the order of its log. The response object, its stream events and its stored log are all
 * derived from these events, so that they cannot disagree. The log stores them as they are: a type keeps its name.
 */
export type RunEvent =
  /** Always the first event. */
  | { readonly type: 'created' }
  /** The request is sent to the model. */
  | { readonly type: 'started' }
  /** A provider has started to stream. */
  | { readonly type: 'answering'; readonly provider: string; readonly warnings: readonly string[] }
  /** Another provider has started to stream; what the first one has sent is void, and its events are not read any more. */
  | { readonly type: 'restarted'; readonly provider: string; readonly warnings: readonly string[] }
  | { readonly type: 'reasoning'; readonly text: string }
  /** The end of a block of reasoning; `encrypted` is what the provider wants back, as opaque text. */
  | { readonly type: 'reasoning-end'; readonly encrypted: string }
  | { readonly type: 'text'; readonly text: string }
  /** Pages that the open message cites, or the next one where none is open. */
  | { readonly type: 'citations'; readonly citations: readonly Citation[] }
  | CallBegin
  /** A piece of the arguments or the input of the open call. */
  | { readonly type: 'call-delta'; readonly text: string }
  | { readonly type: 'call-end' }
  | { readonly type: 'finish'; readonly reason: FinishReason }
  | { readonly type: 'tier'; readonly tier: 'default' | 'priority' | null }
  | RunEnd

/** A call begins. Calls follow one another, without any other event of the model between their begin and their end. */
export type CallBegin = {
  readonly type: 'call'
  readonly kind: 'function_call' | 'custom_tool_call'
  readonly callId: string
  readonly name: string
  readonly namespace?: string
}

/** The last event of a response. */
export type RunEnd =
  /** `at` is in Unix seconds. */
  | { readonly type: 'ended'; readonly at: number; readonly usage: RunUsage }
  /** `param` is null unless a field of the request caused the error. */
  | {
      readonly type: 'failed'
      readonly code: string
      readonly message: string
      readonly param: string | null
      readonly usage: RunUsage | null
    }
  | { readonly type: 'cancelled'; readonly usage: RunUsage | null }

/** The usage of a response; `estimated` where the provider did not report it. */
export type RunUsage = Usage & { readonly estimated: boolean }

/** The end of the response to a call that ended with this error, or without one; `usage` is null if nothing was used. */
export function toRunEnd(error: unknown, usage: RunUsage | null): RunEnd {
  if (error === undefined && usage) return { type: 'ended', at: Math.floor(Date.now() / 1000), usage }
  const apiError = error instanceof ApiError ? error : internalError(error)
  if (apiError.status === 499) return { type: 'cancelled', usage }
  const { code, type, message, param } = apiError
  return { type: 'failed', code: code ?? type, message, param, usage }
}

/** Whether an event is the last one of its response. */
export function isRunEnd(event: RunEvent): event is RunEnd {
  return ['ended', 'failed', 'cancelled'].includes(event.type)
}

/** Converts an event of the model; undefined for one that does not change the response. */
export function toRunEvent(event: GenerationEvent): RunEvent | undefined {
  switch (event.type) {
    case 'text':
    case 'reasoning':
      return event.choice === 0 ? { type: event.type, text: event.text } : undefined
    case 'citations':
      return event.choice === 0 ? { type: 'citations', citations: event.citations } : undefined
    case 'finish':
      return event.choice === 0 ? { type: 'finish', reason: event.reason } : undefined
    case 'tier':
      return { type: 'tier', tier: event.tier }
    default:
      // `ToolEvents` converts the events of tools; the usage comes with the end.
      return undefined
  }
}
