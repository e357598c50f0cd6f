import { waitUntil } from '../../../support/billing-database.ts'
import { chatRequest } from '../../../support/scenario.ts'
import type { Script } from '../../../support/script.ts'
import { type ProtocolFixture, protocolFixtures } from './protocol-fixtures.ts'
import { head } from './raw-script.ts'

const [fixture] = protocolFixtures as readonly [ProtocolFixture]

/** The requests of a slow client: a name, the path and the body. */
export const floodedRequests = [
  ['chat', '/v1/chat/completions', { ...chatRequest, stream: true }],
  ['responses', '/v1/responses', { model: chatRequest.model, input: 'x', stream: true }],
] as const

/** In bytes: what a provider would send to each client, and what may get stuck on the way to one that takes nothing. */
const wholeFlood = 200_000_000
export const maxOnTheWay = 40_000_000

/** A stream of text that counts what it could send, and resolves `stuck` when nobody has taken any for a while. */
export function countedFlood() {
  const sent = { bytes: 0 }
  const piece = Buffer.from(fixture.text('x'.repeat(16_384)))
  let last = performance.now()
  const script: Script = {
    async play(socket) {
      socket.write(
        head(200, { 'content-type': 'text/event-stream', connection: 'close' }) +
          fixture.firstFrames.join(''),
      )
      while (!socket.destroyed && sent.bytes < wholeFlood) {
        sent.bytes += piece.length
        last = performance.now()
        const room = socket.write(piece)
        await new Promise<void>((resolve) => {
          if (room) setImmediate(resolve)
          else socket.once('drain', resolve).once('close', resolve)
        })
      }
      return false
    },
  }
  const stuck = () => waitUntil(() => performance.now() - last > 200, 'a provider that is not taken from')
  return { sent, script, stuck }
}
