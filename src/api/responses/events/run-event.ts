import type { FinishReason } from '../../../domain/generation/events.ts'
import type { Usage } from '../../../domain/generation/usage.ts'

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
