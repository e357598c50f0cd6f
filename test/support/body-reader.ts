/** Reads the body of a reply piece by piece, as it comes. */
export function readPieces({ body }: { readonly body: ReadableStream<Uint8Array> | null }) {
  if (body === null) throw new Error('The reply has no body.')
  const reader = body.getReader()
  const decoder = new TextDecoder()

  async function next(): Promise<string | undefined> {
    const { value, done } = await reader.read()
    return done ? undefined : decoder.decode(value, { stream: true })
  }

  return {
    /** The next piece; undefined at the end. */
    next,
    /** The rest of the body. */
    async rest(): Promise<string> {
      let text = ''
      for (let piece = await next(); piece !== undefined; piece = await next()) text += piece
      return text
    },
    /** Reads until this has come, and returns what was read; throws if the body ends before it. */
    async until(part: string): Promise<string> {
      let text = ''
      while (!text.includes(part)) {
        const piece = await next()
        if (piece === undefined) throw new Error(`“${part}” never came: ${text.slice(-500)}`)
        text += piece
      }
      return text
    },
    leave: () => reader.cancel(),
  }
}
