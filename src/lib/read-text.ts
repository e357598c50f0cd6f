/**
 * The body as text; rejects once it is longer than `limit` bytes. `hold` is called with the length before it is read, or
 * with that of each piece, and ends the reading where it throws; the first call throws from here.
 */
export function readText(
  message: Request | Response,
  limit: number,
  hold: (bytes: number) => void = () => {},
): Promise<string> {
  const length = Number(message.headers.get('content-length') ?? Number.NaN)
  if (length > limit) return Promise.reject(new TooLong())
  // A length that was told, and not of a compressed body, is kept by the HTTP parser.
  if (length <= limit && !message.headers.has('content-encoding')) {
    hold(length)
    return message.text()
  }
  return readPieces(message, limit, hold)
}

/** A body, or an event of a stream, was longer than the limit. */
export class TooLong extends Error {}

async function readPieces(
  message: Request | Response,
  limit: number,
  hold: (bytes: number) => void,
): Promise<string> {
  if (!message.body) return ''
  const decoder = new TextDecoder()
  const reader = message.body.getReader()
  let text = ''
  let length = 0
  try {
    for (;;) {
      const { value, done } = await reader.read()
      if (done) return text + decoder.decode()
      length += value.byteLength
      if (length > limit) throw new TooLong()
      hold(value.byteLength)
      text += decoder.decode(value, { stream: true })
    }
  } catch (error) {
    reader.cancel().catch(() => {})
    throw error
  }
}
