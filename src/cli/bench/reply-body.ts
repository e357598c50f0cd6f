/** Hears each piece of the body as it comes; the pieces carry the framing of the transfer, too. */
export type Listener = (piece: Buffer, at: number) => void

/** What the head of a reply says; without a length the body tells its own end. */
export type Head = {
  readonly status: number
  readonly length: number | undefined
  readonly streamed: boolean
}

/** The status line and the headers. */
export function headOf(text: string): Head {
  const length = /\r\ncontent-length: *(\d+)/i.exec(text)?.[1]
  return {
    status: Number(text.slice(9, 12)),
    length: length === undefined ? undefined : Number(length),
    streamed: /\r\ncontent-type: *text\/event-stream/i.test(text),
  }
}

export type ReplyBody = ReturnType<typeof createReplyBody>

/** Enough to hold the last event of a stream. */
const endingLength = 512
const lastChunk = '0\r\n\r\n'

/** A body that comes piece by piece; the one that makes it whole gives what there is to tell of it. */
export function createReplyBody({ status, length, streamed }: Head, listen: Listener | undefined) {
  let received = 0
  let firstAt: number | undefined
  let ending: Buffer = Buffer.alloc(0)

  function add(piece: Buffer) {
    const at = performance.now()
    received += piece.length
    if (piece.length > 0 && (!streamed || firstAt !== undefined || piece.includes('data:'))) firstAt ??= at
    listen?.(piece, at)
    ending = piece.length >= endingLength ? piece.subarray(-endingLength) : lastOf(ending, piece)
    if (!whole()) return undefined
    return { status, firstAt: firstAt ?? at, endedAt: at, ending: ending.toString() }
  }

  function whole(): boolean {
    if (length !== undefined) return received >= length
    return ending.toString('latin1', Math.max(0, ending.length - lastChunk.length)) === lastChunk
  }

  return { add }
}

function lastOf(before: Buffer, piece: Buffer): Buffer {
  return Buffer.concat([before, piece]).subarray(-endingLength)
}
