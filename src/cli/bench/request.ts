/** Finds the requests in the bytes of a connection. */
export type RequestReader = { push(piece: Buffer): void }

/** Calls `received` for every whole request; one that follows before its reply is no case of ours. */
export function createRequestReader(received: (head: string, body: string) => void): RequestReader {
  let pieces: Buffer[] = []
  let head: string | undefined
  /** Bytes of the body that are still to come; undefined where the body tells its own end. */
  let missing: number | undefined

  function push(piece: Buffer): void {
    pieces.push(piece)
    if (head === undefined) readHead()
    else if (missing !== undefined) missing -= piece.length
    if (head !== undefined && whole()) finish(head)
  }

  function readHead(): void {
    const bytes = Buffer.concat(pieces)
    const end = bytes.indexOf('\r\n\r\n')
    pieces = [bytes]
    if (end < 0) return
    head = bytes.toString('latin1', 0, end + 2)
    pieces = [bytes.subarray(end + 4)]
    const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1]
    const chunked = /\r\ntransfer-encoding: *chunked/i.test(head)
    missing = chunked ? undefined : Number(length ?? 0) - (bytes.length - end - 4)
  }

  function whole(): boolean {
    return missing === undefined ? Buffer.concat(pieces.slice(-2)).includes('0\r\n\r\n') : missing <= 0
  }

  function finish(text: string): void {
    // No answer goes by more than the beginning of the body.
    const body = pieces[0]?.toString('latin1', 0, 200) ?? ''
    pieces = []
    head = undefined
    received(text, body)
  }

  return { push }
}
