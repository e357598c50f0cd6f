import { timeSortedId } from '../../lib/id.ts'

/** What every part of one reply repeats. */
export type ReplyMetadata = {
  readonly id: string
  /** Unix seconds. */
  readonly created: number
  /** The slug of the model that was asked for. */
  readonly model: string
  readonly provider: string
  readonly performanceMode: 'standard' | 'fast'
  readonly warnings: readonly string[]
}

/** The facts of a reply that begins now. */
export function replyMetadata(
  given: Omit<ReplyMetadata, 'id' | 'created'>,
  now: number = Date.now(),
): ReplyMetadata {
  return { ...given, id: timeSortedId('chatcmpl-'), created: Math.floor(now / 1000) }
}
