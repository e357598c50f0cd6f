import { describe, expect, test } from 'bun:test'
import { gzipSync } from 'node:zlib'
import { isPublicAddress } from '../../../src/lib/pinned-fetch.ts'
import { withInlineImages } from '../../../src/gateway/images/remote-image.ts'
import type { Generation } from '../../../src/domain/generation/request.ts'
import { imageReply, imageServer, png } from './support/image-server.ts'

const showing = (...urls: string[]): Generation => ({
  messages: [{ role: 'user', parts: urls.map((url) => ({ type: 'image', url })) }],
  tools: [],
  extras: {},
})
const timeoutMs = new AbortController().signal
const megabyte = 1024 * 1024

/** A body of this many megabytes whose length is not told. */
function endless(megabytes: number): ReadableStream<Uint8Array> {
  let sent = 0
  return new ReadableStream({
    pull(controller) {
      controller.enqueue(sent === 0 ? new Uint8Array(png) : new Uint8Array(megabyte))
      if (++sent > megabytes) controller.close()
    },
  })
}
const headers = { 'content-type': 'image/png' }

describe('fetching images is limited', () => {
  test('to twenty megabytes each, with or without a content length', async () => {
    using server = imageServer((request) => {
      if (request.url.endsWith('/told')) return imageReply(new Uint8Array(21 * megabyte))
      return new Response(endless(100), { headers })
    })
    for (const path of ['/told', '/untold']) {
      const reply = withInlineImages(showing(server.url(path)), timeoutMs, server.surroundings)
      await expect(reply).rejects.toMatchObject({ status: 400, message: expect.stringContaining('20 MiB') })
    }
  })

  test('to images that are not compressed: a bomb is rejected before it is decompressed', async () => {
    const bomb = gzipSync(Buffer.concat([png, Buffer.alloc(megabyte)]))
    using server = imageServer(
      () => new Response(bomb, { headers: { ...headers, 'content-encoding': 'gzip' } }),
    )
    let bytes = 0
    const acquire = (length: number) => void (bytes += length)
    const reply = withInlineImages(showing(server.url('/a')), timeoutMs, server.surroundings, acquire)
    await expect(reply).rejects.toMatchObject({
      status: 400,
      message: expect.stringContaining('does not lead to a PNG'),
    })
    expect(bytes).toBe(bomb.length)
  })

  test('to 64 megabytes for all uses of one image', async () => {
    using server = imageServer(() => new Response(endless(18), { headers }))
    const url = server.url('/a')
    const shown = (times: number) =>
      withInlineImages(showing(...Array.from({ length: times }, () => url)), timeoutMs, server.surroundings)
    expect((await shown(3)).messages[0]?.parts).toHaveLength(3)
    await expect(shown(4)).rejects.toMatchObject({
      status: 400,
      param: 'messages[0].content[3].image_url.url',
      message: expect.stringContaining('too large in total'),
    })
  })

  test('to 64 megabytes for all images of a request', async () => {
    using server = imageServer(() => new Response(endless(18), { headers }))
    const urls = [1, 2, 3, 4].map((number) => server.url(`/${number}`))
    const few = await withInlineImages(showing(...urls.slice(0, 3)), timeoutMs, server.surroundings)
    expect(few.messages[0]?.parts).toHaveLength(3)
    const many = withInlineImages(showing(...urls), timeoutMs, server.surroundings)
    await expect(many).rejects.toMatchObject({ message: expect.stringContaining('too large in total') })
  })

  test('in time, also where the host is not resolved or the body does not end', async () => {
    using server = imageServer(
      () =>
        new Response(new ReadableStream({ start: (body) => body.enqueue(new Uint8Array(png)) }), { headers }),
    )
    const slow = { ...server.surroundings, timeoutMs: 50 }
    const nameless = { ...slow, resolve: () => new Promise<never>(() => {}) }
    for (const surroundings of [slow, nameless]) {
      const reply = withInlineImages(showing(server.url('/a')), timeoutMs, surroundings)
      await expect(reply).rejects.toMatchObject({
        status: 400,
        message: "Invalid 'messages[0].content[0].image_url.url': the image was not received in time.",
      })
    }
  })

  test('by the client, whose disconnect aborts it', async () => {
    const aborting = new AbortController()
    const left = Promise.withResolvers<void>()
    using server = imageServer((request) => {
      request.signal.addEventListener('abort', () => left.resolve())
      aborting.abort(new Error('gone'))
      return new Promise<never>(() => {})
    })
    const reply = withInlineImages(showing(server.url('/a')), aborting.signal, server.surroundings)
    await expect(reply).rejects.toThrow('gone')
    await left.promise
  })

  test('to the first failure, which aborts the others', async () => {
    const left = Promise.withResolvers<void>()
    using server = imageServer((request) => {
      if (request.url.endsWith('/bad')) return new Response('', { status: 500 })
      request.signal.addEventListener('abort', () => left.resolve())
      return new Promise<never>(() => {})
    })
    const urls = [server.url('/hangs'), server.url('/bad')]
    const reply = withInlineImages(showing(...urls), timeoutMs, server.surroundings)
    await expect(reply).rejects.toMatchObject({ param: 'messages[0].content[1].image_url.url' })
    await left.promise
  })
})

describe('an IP address', () => {
  const local =
    '10.1.2.3 127.0.0.1 127.255.255.254 169.254.169.254 172.16.0.1 172.31.255.255 192.168.1.1 100.64.0.1'
  const special = '0.0.0.0 192.0.0.8 198.18.0.1 224.0.0.1 240.0.0.1 255.255.255.255 168.63.129.16'
  const hidden = '::ffff:8.8.8.8 ::ffff:127.0.0.1 64:ff9b::8.8.8.8 2001::1 2002:7f00:1::1 ::127.0.0.1'
  const local6 = ':: ::1 fe80::1 fe80::1%eth0 fc00::1 fd00:ec2::254 ff02::1 2001:db8::1 100::1'
  const none = 'localhost 127.1 0x7f000001'

  test.each([local, special, hidden, local6, none, ''].flatMap((list) => list.split(' ')))(
    '%p is not public',
    (address) => expect(isPublicAddress(address)).toBe(false),
  )

  test.each(['8.8.8.8', '1.1.1.1', '172.32.0.1', '100.128.0.1', '2606:4700::1111', '2a00:1450:4001::200e'])(
    '%p is public',
    (address) => expect(isPublicAddress(address)).toBe(true),
  )
})
