import { report, toApiError } from '../../http/errors.ts'
import type { FrameSource } from '../../http/event-stream.ts'
import type { Log } from '../../lib/log.ts'

/** The same stream, whose failure the log hears of. A client that left is none of the gateway's failures. */
export function reported<Item>(source: FrameSource<Item>, log: Log, requestId: string): FrameSource<Item> {
  return {
    ...source,
    failed(error) {
      const known = toApiError(error)
      if (known.status >= 500) report(log, known, requestId)
      return source.failed(known)
    },
  }
}
