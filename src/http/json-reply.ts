import type { Admission } from '../gateway/rate-limits/admission.ts'
import { clientGone } from '../lib/errors/errors.ts'
import type { MemoryLease } from '../lib/memory-budget.ts'
import { withTimeout } from '../lib/time.ts'
import { directReply, type Sink } from './direct-stream.ts'

/** In characters. What is shorter goes out in one piece, and its bytes are not counted while it does. */
const maxWhole = 64 * 1024
/** In characters: what is written at once, and waits for the client. */
const writeLength = 256 * 1024
/** Milliseconds. A client who takes nothing for so long has left in all but name. */
const stallTimeoutMs = 60_000

const headers = { 'content-type': 'application/json' }

/** The request that is replied to. */
export type RepliedRequest = { readonly request: Request; readonly admission: Admission }

/**
 * A reply of this JSON, which comes in parts. A long one is written at the pace of its client, and holds the bytes of the
 * request until the client has them, or has left.
 */
export function jsonReply(parts: readonly string[], { request, admission }: RepliedRequest): Response {
  const length = parts.reduce((sum, part) => sum + part.length, 0)
  // Of a reply to HEAD nothing is sent but its length.
  if (length <= maxWhole || request.method === 'HEAD') return new Response(parts.join(''), { headers })
  admission.memory.holdAtLeast(length)
  const memory = admission.detachMemory()
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
    // The client has stalled: it is left with what it has.
  } finally {
    sink.close()
    memory.release()
  }
}

/** A place at which the text can be cut: not within a surrogate pair. */
function cutBefore(text: string, end: number): number {
  const code = end < text.length ? text.charCodeAt(end - 1) : 0
  return code >= 0xd800 && code < 0xdc00 ? end - 1 : Math.min(end, text.length)
}
