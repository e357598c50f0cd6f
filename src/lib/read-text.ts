/** The body as text; rejects once it is longer than `limit` bytes. */
export function readText(message: Request | Response, limit: number): Promise<string> {
  const length = Number(message.headers.get('content-length') ?? Number.NaN)
  if (length > limit) return Promise.reject(new TooLong())
  // A length that was told, and not of a compressed body, is kept by the HTTP parser.
  if (length <= limit && !message.headers.has('content-encoding')) return message.text()
  return readPieces(message, limit)
}

/** The body was longer than the limit. */
export class TooLong extends Error {}

async function readPieces(message: Request | Response, limit: number): Promise<string> {
  if (!message.body) return ''
  const decoder = new TextDecoder()
  const reader = message.body.getReader()
  let text = ''
  let length = 0
  for (;;) {
    const { value, done } = await reader.read()
    if (done) return text + decoder.decode()
    length += value.byteLength
    if (length > limit) {
      reader.cancel().catch(() => {})
      throw new TooLong()
    }
    text += decoder.decode(value, { stream: true })
  }
}
