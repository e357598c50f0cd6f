import type { Admission } from '../gateway/rate-limits/admission.ts'
import { clientGone } from '../lib/errors/errors.ts'
import type { MemoryLease } from '../lib/memory-budget.ts'
import { withTimeout } from '../lib/time.ts'
import { directReply, type Sink, stallTimeoutMs } from './direct-stream.ts'

/** In characters. A shorter reply is sent in one piece, and its bytes are not accounted for while it is. */
const maxBufferedLength = 64 * 1024
/** In characters: the size of one write, after which the client is waited for. */
const writeLength = 256 * 1024

const headers = { 'content-type': 'application/json' }

/** The request that a reply answers. */
export type RepliedRequest = { readonly request: Request; readonly admission: Admission }

/**
 * Creates a response from JSON in parts. A long one is written at the pace of its client, and holds the bytes of the
 * request until the client has read it, or has left.
 */
export function jsonReply(parts: readonly string[], { request, admission }: RepliedRequest): Response {
  const length = parts.reduce((sum, part) => sum + part.length, 0)
  // The reply to HEAD has the length of the body alone.
  if (length <= maxBufferedLength || request.method === 'HEAD')
    return new Response(parts.join(''), { headers })
  const memory = admission.acquireReply(length)
  return directReply({ pull: (sink) => writeAll(parts, sink, memory), cancel: memory.release }, headers)
}

async function writeAll(parts: readonly string[], sink: Sink, memory: MemoryLease): Promise<void> {
  try {
    for (const part of parts) {
      for (let start = 0, end = 0; start < part.length; start = end) {
        end = cutBefore(part, start + writeLength)
        const written = sink.write(part.slice(start, end))
        sink.flush()
        if (typeof written !== 'number') await withTimeout(written, stallTimeoutMs, clientGone)
      }
    }
  } catch {
    // The client has stalled: its reply stays incomplete.
  } finally {
    sink.close()
    memory.release()
  }
}

/** The largest index up to `end` at which the text can be cut: not within a surrogate pair. */
function cutBefore(text: string, end: number): number {
  const code = end < text.length ? text.charCodeAt(end - 1) : 0
  return code >= 0xd800 && code < 0xdc00 ? end - 1 : Math.min(end, text.length)
}
