import type { Socket } from 'node:net'

/** A request as it came off the connection. */
export type ReceivedRequest = {
  readonly method: string
  readonly path: string
  readonly headers: Headers
  readonly text: string
  /** The body as JSON; empty where it is none. */
  readonly body: Readonly<Record<string, unknown>>
}

/** The one request of this connection; undefined where it is closed without one. */
export function receiveRequest(socket: Socket): Promise<ReceivedRequest | undefined> {
  return new Promise((resolve) => {
    let bytes = Buffer.alloc(0)
    socket.on('close', () => resolve(undefined))
    socket.on('data', (piece: Buffer) => {
      bytes = Buffer.concat([bytes, piece])
      const received = parseRequest(bytes)
      if (received) resolve(received)
    })
  })
}

/** Undefined until all of it is there. */
function parseRequest(bytes: Buffer): ReceivedRequest | undefined {
  const end = bytes.indexOf('\r\n\r\n')
  if (end < 0) return undefined
  const [start = '', ...lines] = bytes.toString('latin1', 0, end).split('\r\n')
  const [method = '', path = ''] = start.split(' ')
  const headers = new Headers(lines.map((line) => splitOnce(line, ':')))
  const rest = bytes.subarray(end + 4)
  if (rest.length < Number(headers.get('content-length') ?? 0)) return undefined
  const text = rest.toString()
  return { method, path, headers, text, body: text === '' ? {} : JSON.parse(text) }
}

function splitOnce(line: string, separator: string): [string, string] {
  const place = line.indexOf(separator)
  return [line.slice(0, place), line.slice(place + 1).trim()]
}
