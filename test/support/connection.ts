import { connect } from 'node:net'
import { firstKey } from './app.ts'

/** A client that writes its requests byte by byte: for what no HTTP client would send. */
export type Connection = {
  write(text: string | Uint8Array): void
  /** A whole chat completion request. */
  post(body: object): void
  /** Resolves with all that has come, once this is in it or the other side has ended. */
  until(part: string): Promise<string>
  /** Resolves with all that has come, once the other side has ended. */
  end(): Promise<string>
  reset(): void
}

/** Connects to the gateway at this address. */
export async function openConnection(url: string): Promise<Connection> {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  const received = { text: '', ended: false }
  let wake = () => {}
  socket.on('error', () => {})
  socket.on('data', (bytes: Buffer) => {
    received.text += bytes.toString()
    wake()
  })
  socket.on('close', () => {
    received.ended = true
    wake()
  })
  await new Promise<void>((resolve, reject) => socket.on('connect', resolve).on('error', reject))

  async function until(part: string | undefined): Promise<string> {
    const come = () => part !== undefined && received.text.includes(part)
    while (!received.ended && !come()) await new Promise<void>((resolve) => (wake = resolve))
    return received.text
  }

  return {
    write: (text) => void socket.write(text),
    post(body) {
      const json = JSON.stringify(body)
      const head = `host: localhost\r\nauthorization: Bearer ${firstKey}\r\ncontent-length: ${json.length}`
      socket.write(`POST /v1/chat/completions HTTP/1.1\r\n${head}\r\n\r\n${json}`)
    },
    until,
    end: () => until(undefined),
    reset: () => void socket.destroy(),
  }
}
