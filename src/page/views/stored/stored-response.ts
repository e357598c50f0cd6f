import type { Metadata } from './metadata-list.tsx'

/** A stored response, as far as the page shows it. */
export type StoredResponse = {
  readonly id: string
  readonly model: string
  readonly provider?: string
  readonly status: string
  readonly background: boolean
  /** Unix seconds. */
  readonly created_at: number
  readonly completed_at: number | null
  readonly instructions: string | null
  readonly previous_response_id: string | null
  readonly error: { readonly message: string } | null
  readonly incomplete_details: { readonly reason: string } | null
  readonly output: readonly unknown[]
  readonly usage: {
    readonly input_tokens: number
    readonly output_tokens: number
    readonly input_tokens_details: { readonly cached_tokens: number }
    readonly output_tokens_details: { readonly reasoning_tokens: number }
  } | null
  readonly metadata: Metadata | null
}

/** Whether the response is still being generated, or waits for it. */
export function isOpen({ status }: StoredResponse): boolean {
  return status === 'queued' || status === 'in_progress'
}
