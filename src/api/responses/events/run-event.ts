import type { FinishReason, GenerationEvent } from '../../../domain/generation/events.ts'
import type { Usage } from '../../../domain/generation/usage.ts'
import { ApiError, internalError } from '../../../lib/errors/errors.ts'

/**
 * What happens to a response, in the order in which it happens. The object, its stream events and its stored log are
 * all made from these, so that they cannot disagree.
 */
export type RunEvent =
  /** Always the first one. */
  | { readonly type: 'created' }
  /** The question goes to the model. */
  | { readonly type: 'started' }
  /** A provider has begun to answer. */
  | { readonly type: 'answering'; readonly provider: string; readonly warnings: readonly string[] }
  | { readonly type: 'reasoning'; readonly text: string }
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'finish'; readonly reason: FinishReason }
  | { readonly type: 'tier'; readonly tier: 'default' | 'priority' | null }
  /** The last one: nothing follows it. */
  | RunEnd

export type RunEnd =
  | { readonly type: 'ended'; readonly at: number; readonly usage: RunUsage }
  /** `param` is null unless the fault is in a field of the request. */
  | {
      readonly type: 'failed'
      readonly code: string
      readonly message: string
      readonly param: string | null
      readonly usage: RunUsage | null
    }
  | { readonly type: 'cancelled'; readonly usage: RunUsage | null }

/** What was used; `estimated` where the provider did not count. */
export type RunUsage = Usage & { readonly estimated: boolean }

/** How a call that ended, whole or with this error, ends its response; what was used is known once it has begun. */
export function endOf(error: unknown, usage: RunUsage | null, now: number = Date.now()): RunEnd {
  if (error === undefined && usage) return { type: 'ended', at: Math.floor(now / 1000), usage }
  const known = error instanceof ApiError ? error : internalError(error)
  if (known.status === 499) return { type: 'cancelled', usage }
  const { code, type, message, param } = known
  return { type: 'failed', code: code ?? type, message, param, usage }
}

/** What an event of the model means for the response; undefined where it tells nothing of it. */
export function toRunEvent(event: GenerationEvent): RunEvent | undefined {
  switch (event.type) {
    case 'text':
    case 'reasoning':
      return event.choice === 0 ? { type: event.type, text: event.text } : undefined
    case 'finish':
      return event.choice === 0 ? { type: 'finish', reason: event.reason } : undefined
    case 'tier':
      return { type: 'tier', tier: event.tier }
    default:
      // No tools are offered, and usage is told at the end.
      return undefined
  }
}
