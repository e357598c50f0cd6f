import { describe, expect, test } from 'bun:test'
import type { NetworkOverrides } from '../../../src/lib/pinned-fetch.ts'
import { withInlineImages } from '../../../src/gateway/images/remote-image.ts'
import type { Generation, Part } from '../../../src/domain/generation/request.ts'
import { ApiError } from '../../../src/lib/errors/errors.ts'
import { imageReply, imageServer, png } from './support/image-server.ts'
import { startNameServer } from './support/name-server.ts'

const image = (url: string): Part => ({ type: 'image', url, detail: 'low' })
const requesting = (...parts: Part[]): Generation => ({
  messages: [
    { role: 'system', parts: [{ type: 'text', text: 'Look.' }] },
    { role: 'user', parts: [{ type: 'text', text: 'What is this?' }, ...parts] },
  ],
  tools: [],
  extras: {},
})
const timeoutMs = new AbortController().signal
const inline = `data:image/png;base64,${png.toString('base64')}`

/** The error for an image that is not taken. */
async function refusal(url: string, surroundings: NetworkOverrides = {}): Promise<ApiError> {
  const error = await withInlineImages(requesting(image(url)), timeoutMs, surroundings).catch(
    (error) => error,
  )
  if (!(error instanceof ApiError)) throw new Error('the image was taken')
  expect(error).toMatchObject({ status: 400, code: 'invalid_image_url' })
  expect(error.param).toBe('messages[1].content[1].image_url.url')
  return error
}

describe('an image URL', () => {
  test('is replaced by the bytes of the image, and the rest of the request stays unchanged', async () => {
    using server = imageServer(() => imageReply())
    const generation = requesting(image(server.url('/a.png')), image('data:image/gif;base64,QUJD'))
    const result = await withInlineImages(generation, timeoutMs, server.surroundings)
    const expected = requesting(image(inline), image('data:image/gif;base64,QUJD'))
    expect(result).toEqual(expected)
    expect(generation.messages[1]?.parts[1]).toMatchObject({ url: server.url('/a.png') })
    expect(result.messages[0]).toBe(generation.messages[0])
  })

  test('costs nothing where there is none', async () => {
    const generation = requesting(image(inline))
    expect(await withInlineImages(generation, timeoutMs)).toBe(generation)
  })

  test('is fetched from the verified IP address under its own host name', async () => {
    using server = imageServer(() => imageReply())
    let resolved = 0
    const resolve = async () => [['127.0.0.1'], ['10.0.0.1']][resolved++] ?? []
    await withInlineImages(requesting(image(server.url('/a'))), timeoutMs, {
      ...server.surroundings,
      resolve,
    })
    expect(server.asked).toEqual([{ host: `images.test:${server.port}`, path: '/a' }])
    expect(resolved).toBe(1)
  })

  test('is not parsed where it is longer than any server accepts', async () => {
    const resolve = () => Promise.reject(new Error('the host was looked up'))
    const { message } = await refusal(`https://images.test/${'a'.repeat(16_384)}`, { resolve })
    expect(message).toEndWith(': the URL is longer than 16384 characters.')
  })

  test('is resolved by asking the name servers, without a thread that a silent one would keep busy', async () => {
    using server = imageServer(() => imageReply())
    using nameServer = await startNameServer({ 'images.test': '127.0.0.1' })
    const { resolve: _, ...surroundings } = server.surroundings
    const network = { ...surroundings, nameServers: [nameServer.address] }
    const controller = new AbortController()
    const silent = Array.from({ length: 64 }, (_, index) =>
      withInlineImages(requesting(image(`https://silent-${index}.test/a`)), controller.signal, network),
    )
    const ended = Promise.allSettled(silent)
    const result = await withInlineImages(requesting(image(server.url('/a.png'))), timeoutMs, network)
    expect(result.messages[1]?.parts[1]).toEqual(image(inline))
    controller.abort()
    await ended
    expect(nameServer.names).toContain('images.test')
    expect(nameServer.names.size).toBe(65)
    expect((await refusal('https://images.test/', { nameServers: network.nameServers })).message).toEndWith(
      'the image host is not on the public internet.',
    )
  })

  test('may have an IP address as its host', async () => {
    using server = imageServer(() => imageReply())
    const generation = requesting(image(server.url('/a', '127.0.0.1')))
    const result = await withInlineImages(generation, timeoutMs, server.surroundings)
    expect(result.messages[1]?.parts[1]).toMatchObject({ url: inline })
  })

  test('is fetched once however often it is used, and at most eight at a time', async () => {
    let [open, max] = [0, 0]
    const full = Promise.withResolvers<void>()
    using server = imageServer(async () => {
      max = Math.max(max, ++open)
      if (open === 8) full.resolve()
      await full.promise
      open -= 1
      return imageReply()
    })
    const urls = Array.from({ length: 20 }, (_, index) => server.url(`/${index}`))
    const generation = requesting(...[...urls, ...urls].map(image))
    const result = await withInlineImages(generation, timeoutMs, server.surroundings)
    expect(server.asked.map(({ path }) => path).toSorted()).toEqual(
      urls.map((url) => new URL(url).pathname).toSorted(),
    )
    expect(max).toBe(8)
    expect(result.messages[1]?.parts.slice(1)).toEqual(Array(40).fill(image(inline)))
  })

  test('has the media type that its bytes indicate', async () => {
    using server = imageServer(() => imageReply(new Uint8Array([0xff, 0xd8, 0xff, 0xe0]), 'image/png'))
    const result = await withInlineImages(requesting(image(server.url('/a'))), timeoutMs, server.surroundings)
    expect(result.messages[1]?.parts[1]).toMatchObject({ url: 'data:image/jpeg;base64,/9j/4A==' })
  })

  test('is followed through three redirects, also to another host', async () => {
    using server = imageServer((request) => {
      const { pathname } = new URL(request.url)
      if (pathname === '/3') return imageReply()
      const next = `/${Number(pathname.slice(1)) + 1}`
      return Response.redirect(pathname === '/0' ? server.url(next, 'elsewhere.test') : next, 302)
    })
    const result = await withInlineImages(requesting(image(server.url('/0'))), timeoutMs, server.surroundings)
    expect(result.messages[1]?.parts[1]).toMatchObject({ url: inline })
    expect(server.asked.map(({ host }) => host?.split(':')[0])).toEqual([
      'images.test',
      'elsewhere.test',
      'elsewhere.test',
      'elsewhere.test',
    ])
  })
})

describe('an image URL is rejected', () => {
  test.each([
    'http://images.test/a.png',
    'ftp://images.test/a.png',
    'gs://bucket/a.png',
    'a.png',
    'https://ada:secret@images.test/a.png',
    'https://',
  ])('when it is %s', async (url) => {
    const error = await refusal(url)
    expect(error.message).not.toContain('secret')
  })

  test.each([
    'https://127.0.0.1/',
    'https://2130706433/',
    'https://0x7f.1/',
    'https://[::1]/',
    'https://localhost/',
  ])('when it is %s, which is not on the public internet', async (url) => {
    const { message } = await refusal(url)
    expect(message).toEndWith('the image host is not on the public internet.')
    expect(message).not.toContain('127.0.0.1')
  })

  test('with the path of its first use', async () => {
    const address = 'http://images.test/a'
    const providerReply = withInlineImages(
      requesting(image(inline), image(address), image(address)),
      timeoutMs,
    )
    await expect(providerReply).rejects.toMatchObject({ param: 'messages[1].content[2].image_url.url' })
  })

  test('when one of the addresses of its host is not public, and none is connected', async () => {
    using server = imageServer(() => imageReply())
    const resolve = async () => ['127.0.0.1', '10.0.0.1']
    const { message } = await refusal(server.url('/a'), { ...server.surroundings, resolve })
    expect(message).toContain('not on the public internet')
    expect(server.asked).toEqual([])
  })

  test('when its host is unknown, with the same message as an internal one', async () => {
    const inside = await refusal('https://inside.test/a', { resolve: async () => ['10.0.0.1'] })
    const unknown = await refusal('https://unknown.test/a', {
      resolve: () => Promise.reject(new Error('ENOTFOUND')),
    })
    expect(unknown.message).toBe(inside.message)
  })

  test('when it redirects to an internal address, which is not revealed', async () => {
    using server = imageServer(() => Response.redirect('https://10.1.2.3/latest/meta-data', 302))
    const { message } = await refusal(server.url('/a'), server.surroundings)
    expect(message).toContain('not on the public internet')
    expect(message).not.toContain('10.1.2.3')
  })

  test.each([
    ['http', 'http://images.test/a', 'must begin with https://'],
    ['itself', '/again', 'redirects too many times'],
  ])('when it redirects to %s', async (_name, location, words) => {
    using server = imageServer(() => Response.redirect(location, 307))
    const { message } = await refusal(server.url('/a'), server.surroundings)
    expect(message).toContain(words)
    expect(server.asked.length).toBeLessThanOrEqual(4)
  })

  test('when its certificate is for another name, or is not trusted', async () => {
    using server = imageServer(() => imageReply())
    await refusal(server.url('/a', 'other.test'), server.surroundings)
    await refusal(server.url('/a'), { ...server.surroundings, ca: undefined })
    expect(server.asked).toEqual([])
  })

  test.each<[string, Response, string]>([
    ['there is none', new Response('gone', { status: 404 }), 'returned status 404'],
    [
      'it is a page',
      new Response('<html>', { headers: { 'content-type': 'text/html' } }),
      'does not lead to a PNG',
    ],
    [
      'it only says it is one',
      imageReply(Buffer.from('<svg/>') as never, 'image/svg+xml'),
      'does not lead to a PNG',
    ],
    ['it is empty', imageReply(new Uint8Array()), 'does not lead to a PNG'],
  ])('when %s', async (_name, reply, words) => {
    using server = imageServer(() => reply)
    expect((await refusal(server.url('/a'), server.surroundings)).message).toContain(words)
  })
})
