import type { Admission } from '../gateway/rate-limits/admission.ts'
import { clientStalled } from '../lib/errors/errors.ts'
import type { MemoryLease } from '../lib/memory-budget.ts'
import { withTimeout } from '../lib/time.ts'

/** In characters. A shorter reply is sent in one piece, and its bytes are not accounted for while it is. */
const maxBufferedLength = 64 * 1024
/** In characters: the size of one write, after which the client is waited for. */
const writeLength = 256 * 1024

const headers = { 'content-type': 'application/json' }

/** The request that a reply answers. */
type RepliedRequest = { readonly request: Request; readonly admission: Admission }

/**
 * Creates a response from JSON in parts. A long one is written at the pace of its client, and holds the bytes of the
 * request until the client has read it, or has left.
 */
export function jsonReply(parts: readonly string[], { request, admission }: RepliedRequest): Response {
  const length = parts.reduce((sum, part) => sum + part.length, 0)
  // The reply to HEAD has the length of the body alone.
  if (length <= maxBufferedLength || request.method === 'HEAD') return jsonText(parts)
  const memory = admission.holdReply(length)
  return directReply({ pull: (sink) => writeAll(parts, sink, memory), cancel: memory.release }, headers)
}

/** A response with JSON in parts, in one piece. */
export function jsonText(parts: readonly string[]): Response {
  return new Response(parts.join(''), { headers })
}

async function writeAll(parts: readonly string[], sink: Sink, memory: MemoryLease): Promise<void> {
  try {
    for (const part of parts) {
      for (let start = 0, end = 0; start < part.length; start = end) {
        end = cutBefore(part, start + writeLength)
        const written = sink.write(part.slice(start, end))
        sink.flush()
        if (typeof written !== 'number') await withTimeout(written, stallTimeoutMs, clientStalled)
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

/**
 * The source of a direct stream of Bun, which has no queue: it is pulled once, and writes to the socket itself. Bun calls
 * `cancel` when the client leaves, also before the pull.
 */
type DirectStream = { pull(sink: Sink): Promise<void>; cancel(): void }

export type Sink = {
  /** Returns a promise where the client does not keep up: it resolves when the buffer has room, or the client has left. */
  write(text: string): number | Promise<number>
  flush(): void
  close(): void
}

/** Milliseconds. A client that reads nothing for this long counts as gone: it would keep a provider or memory busy. */
export const stallTimeoutMs = 60_000

/** Creates a response whose body the stream writes. */
export function directReply(
  { pull, cancel }: DirectStream,
  headers: Readonly<Record<string, string>>,
): Response {
  const source = { type: 'direct', pull, cancel }
  // The types of the platform do not declare direct streams.
  const body = source as unknown as ConstructorParameters<typeof ReadableStream>[0]
  return new Response(new ReadableStream(body), { headers })
}
