/**
 * The source of a direct stream of Bun, which has no queue: it is pulled once, and writes to the socket itself. Bun calls
 * `cancel` when the client leaves, also before the pull.
 */
export type DirectStream = { pull(sink: Sink): Promise<void>; cancel(): void }

export type Sink = {
  /** Returns a promise where the client does not keep up: it resolves when the buffer has room, or the client has left. */
  write(text: string): number | Promise<number>
  flush(): void
  close(): void
}

/** Milliseconds. A client that reads nothing for this long counts as gone: it would keep a provider or memory busy. */
export const stallTimeoutMs = 60_000

/** Creates a response whose body the stream writes. */
export function directReply(stream: DirectStream, headers: Readonly<Record<string, string>>): Response {
  const source = { type: 'direct', ...stream }
  // The types of the platform do not declare direct streams.
  const body = source as unknown as ConstructorParameters<typeof ReadableStream>[0]
  return new Response(new ReadableStream(body), { headers })
}
