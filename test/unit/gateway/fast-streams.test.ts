import { expect, test } from 'bun:test'
import { upstreamBody } from '../../../src/gateway/streams/upstream-body.ts'
import { openaiChat } from '../../../src/providers/protocols/openai-chat/protocol.ts'
import { plain } from '../../../src/providers/protocols/openai-chat/dialects/plain.ts'
import { plainGeneration } from '../providers/protocols/support/generations.ts'

const mebibyte = 1024 * 1024

test('a stream whose bytes have all arrived gives others their turns while it is read', async () => {
  const comments = new TextEncoder().encode(': x\n\n'.repeat(mebibyte / 64 / 5))
  const arrived = new ReadableStream<Uint8Array>({
    start(controller) {
      for (let chunk = 0; chunk < 256; chunk++) controller.enqueue(comments)
      controller.close()
    },
  })
  const response = new Response(arrived, { headers: { 'content-type': 'text/event-stream' } })
  const body = upstreamBody(response, { generation: plainGeneration }, openaiChat(plain('acme')))
  let turns = 0
  const count = () => {
    turns += 1
    if (!body.finished()) setImmediate(count)
  }
  setImmediate(count)
  while (!body.finished()) body.parse(await body.read())
  expect(turns).toBeGreaterThanOrEqual(15)
})
