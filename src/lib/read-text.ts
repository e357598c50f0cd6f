/**
 * Reads the body as text; rejects once it is longer than `limit` bytes. `acquire` is called with the length of the body
 * before it is read, or of each piece. Its error aborts the reading, and is thrown directly if the length is known.
 */
export function readText(
  message: Request | Response,
  limit: number,
  acquire: (bytes: number) => void = () => {},
): Promise<string> {
  const length = Number(message.headers.get('content-length') ?? Number.NaN)
  if (length > limit) return Promise.reject(new TooLongError())
  // The HTTP parser enforces the declared length of a body that is not compressed.
  if (length <= limit && !message.headers.has('content-encoding')) {
    acquire(length)
    return message.text()
  }
  return readPieces(message, limit, acquire)
}

/** A body, or an event of a stream, is longer than its limit. */
export class TooLongError extends Error {}

async function readPieces(
  message: Request | Response,
  limit: number,
  acquire: (bytes: number) => void,
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
      if (length > limit) throw new TooLongError()
      acquire(value.byteLength)
      text += decoder.decode(value, { stream: true })
    }
  } catch (error) {
    reader.cancel().catch(() => {})
    throw error
  }
}
