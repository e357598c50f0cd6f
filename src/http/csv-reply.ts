import { clientStalled } from '../lib/errors/errors.ts'
import { withTimeout } from '../lib/time.ts'
import { directReply, type Sink, stallTimeoutMs } from './reply.ts'

/**
 * Creates a response with the lines of a CSV file, piece by piece at the pace of its client. Rejects if the first piece
 * fails; a later failure is the last line, so that a broken file never looks complete.
 */
export async function csvReply(
  name: string,
  pieces: AsyncGenerator<readonly string[], void>,
  method: string,
): Promise<Response> {
  const headers = {
    'content-type': 'text/csv; charset=utf-8',
    'content-disposition': `attachment; filename="${name}"`,
  }
  const first = await pieces.next()
  const close = () => void pieces.return().catch(() => {})
  if (method !== 'HEAD')
    return directReply({ pull: (sink) => writeAll(first, pieces, sink), cancel: close }, headers)
  close()
  return new Response(null, { headers })
}

const failureLine = 'The file is incomplete because its data could not be read.\r\n'

async function writeAll(
  first: IteratorResult<readonly string[], void>,
  pieces: AsyncGenerator<readonly string[], void>,
  sink: Sink,
): Promise<void> {
  try {
    for (let piece = first; !piece.done; piece = await nextOf(pieces, sink)) {
      const written = sink.write(piece.value.map((line) => `${line}\r\n`).join(''))
      sink.flush()
      if (typeof written !== 'number') await withTimeout(written, stallTimeoutMs, clientStalled)
    }
  } catch {
    // The client has left or stalled, or the failure was its last line.
  } finally {
    void pieces.return().catch(() => {})
    sink.close()
  }
}

async function nextOf(pieces: AsyncGenerator<readonly string[], void>, sink: Sink) {
  try {
    return await pieces.next()
  } catch (error) {
    void sink.write(failureLine)
    throw error
  }
}
