import type { FinishReason } from '../../../domain/generation/events.ts'
import type { OutputItem, ResponseObject } from '../render/reply-schema.ts'
import type { ResponseHead } from '../request/head.ts'
import type { RunUsage } from './run-event.ts'

/** All that is known of a response at one moment. It is never changed: each step makes a new one. */
export type ResponseState = {
  readonly head: ResponseHead
  readonly status: ResponseObject['status']
  /** The number that the next stream event gets. */
  readonly sequence: number
  /** Who answers; null until somebody does. */
  readonly provider: string | null
  /** What was lost on the way to the provider, beside what the head knows. */
  readonly warnings: readonly string[]
  /** The items that are whole, or cut short for good. */
  readonly output: readonly OutputItem[]
  /** The item that still grows. */
  readonly open: OpenItem | null
  /** Why the model stopped; null until it did. */
  readonly finish: FinishReason | null
  /** The tier that served; null where the provider told none. */
  readonly tier: 'default' | 'priority' | null
  /** Unix seconds; null unless completed. */
  readonly completedAt: number | null
  readonly incompleteReason: 'max_output_tokens' | 'content_filter' | 'cancelled' | null
  readonly failure: Failure | null
  readonly usage: RunUsage | null
}

/** The item to which the model adds, with its text so far, which is never empty. */
export type OpenItem = {
  readonly type: OutputItem['type']
  readonly id: string
  /** Its place in the output. */
  readonly index: number
  readonly text: string
}

/** Why a response failed; `code` is one of the gateway's own. */
export type Failure = { readonly code: string; readonly message: string; readonly param: string | null }

/** A response to which nothing has happened yet. */
export function initialState(head: ResponseHead): ResponseState {
  return {
    head,
    status: head.background ? 'queued' : 'in_progress',
    sequence: 0,
    provider: null,
    warnings: [],
    output: [],
    open: null,
    finish: null,
    tier: null,
    completedAt: null,
    incompleteReason: null,
    failure: null,
    usage: null,
  }
}

/** Whether nothing more can happen to the response. */
export function finished({ status }: ResponseState): boolean {
  return status !== 'queued' && status !== 'in_progress'
}
