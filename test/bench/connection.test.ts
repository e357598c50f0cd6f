import { expect, test } from 'bun:test'
import { createReplyReader, openConnection, requestBytes } from './connection.ts'
import { percentilesOf } from '../../src/cli/bench/load.ts'
import { median, send } from './send.ts'
import { chatFrames, jsonReply, startUpstream, streamReply } from './scripted-upstream.ts'

const whole = Buffer.from(jsonReply({ said: 'é'.repeat(400) }))
const stream = Buffer.concat(streamReply(chatFrames(5)))

test.each([
  ['a complete reply', whole, 'é"}'],
  ['a stream', stream, 'data: [DONE]'],
])('the bench client reads %s wherever its bytes are split', async (_, bytes, ending) => {
  for (const size of [1, 7, 100, bytes.length]) {
    const reader = createReplyReader()
    const reply = reader.expect()
    for (let start = 0; start < bytes.length; start += size) reader.push(bytes.subarray(start, start + size))
    expect((await reply).status).toBe(200)
    expect((await reply).ending).toContain(ending)
  }
})

test('an incomplete reply is not a reply', async () => {
  const reader = createReplyReader()
  const reply = reader.expect()
  reader.push(stream.subarray(0, -5))
  reader.fail(new Error('The connection was closed.'))
  expect(reply).rejects.toThrow('closed')
})

test('no reply is expected on a connection that the server has closed', async () => {
  const reader = createReplyReader()
  reader.fail(new Error('The connection was closed.'))
  expect(reader.expect()).rejects.toThrow('closed')
})

test('the time to the first token ignores comments', async () => {
  const reader = createReplyReader()
  const heard: number[] = []
  const reply = reader.expect((_, at) => void heard.push(at))
  reader.push(
    Buffer.from('HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n'),
  )
  reader.push(Buffer.from('e\r\n: keep-alive\n\n\r\n'))
  reader.push(Buffer.from('d\r\ndata: [DONE]\n\n\r\n0\r\n\r\n'))
  expect((await reply).firstAt).toBe(heard[2] ?? 0)
})

test('requests of many connections get their own replies, and the load ends when it is stopped', async () => {
  const heads: string[] = []
  const upstream = startUpstream((head) => {
    heads.push(head.slice(0, head.indexOf('\r\n')))
    return head.includes('/stream') ? { first: stream } : { first: whole }
  })
  const load = (path: string, body?: string) => {
    const url = new URL(path, upstream.url)
    return { url, request: requestBytes(url, {}, body), connections: 3, durationMs: 10_000, maxRequests: 30 }
  }
  const { latencies } = await send({ ...load('/whole', 'x'.repeat(300_000)), ending: '"}' })
  expect(latencies).toHaveLength(30)
  await send({ ...load('/stream'), ending: 'data: [DONE]' })
  expect(new Set(heads)).toEqual(new Set(['POST /whole HTTP/1.1', 'GET /stream HTTP/1.1']))
  expect(send({ ...load('/stream'), ending: 'response.completed' })).rejects.toThrow('ended without')
  upstream.stop()
})

test('a paced reply begins when enough are open, and is complete', async () => {
  const [first = new Uint8Array(), ...pieces] = streamReply(chatFrames(4))
  const upstream = startUpstream(() => ({
    first,
    paced: { chunks: pieces, intervalMs: 4, minOpenStreams: 2 },
  }))
  const url = new URL(upstream.url)
  const [one, other] = [await openConnection(url), await openConnection(url)]
  const begun = Promise.withResolvers<void>()
  const replies = [one.exchange(requestBytes(url, {}), () => begun.resolve())]
  await begun.promise
  expect(await Promise.race([replies[0], Bun.sleep(40).then(() => 'silent')])).toBe('silent')
  replies.push(other.exchange(requestBytes(url, {})))
  for (const { ending } of await Promise.all(replies)) expect(ending).toContain('data: [DONE]')
  upstream.stop()
})

test('percentiles and medians are those of the sorted values', () => {
  const values = Array.from({ length: 1000 }, (_, index) => (index * 7) % 1000)
  expect(percentilesOf(values)).toEqual({ p50: 500, p99: 990 })
  expect([median([3, 1, 2]), median([4, 1, 2, 3]), median([])]).toEqual([2, 2.5, Number.NaN])
})
