/**
 * What Bun takes in the place of a source that queues: it is pulled once, and writes to the socket itself. `cancel` is
 * called where the client leaves, also before it is pulled.
 */
export type DirectStream = { pull(sink: Sink): Promise<void>; cancel(): void }

export type Sink = {
  /** A promise where the client does not keep up: it resolves when there is room again, or nobody any more. */
  write(text: string): number | Promise<number>
  flush(): void
  close(): void
}

/** A reply whose body this stream writes. */
export function directReply(stream: DirectStream, headers: Readonly<Record<string, string>>): Response {
  const source = { type: 'direct', ...stream }
  // The types of the platform do not know it.
  const body = source as unknown as ConstructorParameters<typeof ReadableStream>[0]
  return new Response(new ReadableStream(body), { headers })
}
