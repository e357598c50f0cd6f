import { afterAll, describe, expect, test } from 'bun:test'
import { bundlePage } from '../../../src/api/page/bundle.ts'
import { page as pagePlugin } from '../../../src/api/page/routes.ts'
import { compressPageFile } from '../../../src/build/compile.ts'
import { fieldsOf } from '../../../src/lib/json/json.ts'
import { startApp } from '../../support/app.ts'

const app = await startApp()
afterAll(app.stop)

const browserHeaders = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8', authorization: null }
const openPage = (headers: Record<string, string> = {}) =>
  app.request('/', { headers: { ...browserHeaders, ...headers } })

/** In bytes, of all files together as a browser receives them. */
const sizeBudget = 150_000

describe('the page', () => {
  test('is served to browsers with headers that forbid everything that it does not need', async () => {
    const reply = await openPage()
    expect(reply.status).toBe(200)
    expect(reply.headers.get('content-type')).toBe('text/html; charset=utf-8')
    const policy = reply.headers.get('content-security-policy')?.split('; ')
    expect(policy).toEqual(
      expect.arrayContaining([
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "connect-src 'self'",
        "frame-ancestors 'none'",
        "base-uri 'none'",
        "form-action 'none'",
        "require-trusted-types-for 'script'",
      ]),
    )
    expect(Object.fromEntries(reply.headers)).toMatchObject({
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'cross-origin-opener-policy': 'same-origin',
      'x-frame-options': 'DENY',
    })
    const html = await reply.text()
    expect(html).not.toMatch(/<script(?![^>]* src=)|<style|\son\w+=/)
  })

  test('has files whose address changes with their content, cached for ever, and no others', async () => {
    const html = await (await openPage()).text()
    const paths = [...html.matchAll(/(?:src|href)="(\/page\/[^"]+)"/g)].map((match) => match[1] ?? '')
    expect(paths.map((path) => path.replace(/\.[0-9a-f]{16}\./, '.'))).toEqual([
      '/page/weir.js',
      '/page/weir.css',
    ])
    for (const path of paths) {
      const reply = await app.request(path, { headers: { authorization: null } })
      expect([reply.status, reply.headers.get('cache-control')]).toEqual([
        200,
        'public, max-age=31536000, immutable',
      ])
      expect(reply.headers.get('x-content-type-options')).toBe('nosniff')
    }
    for (const path of ['/page/', '/page/weir.js', '/page/../weir.yaml', '/page/weir.0000000000000000.js'])
      expect((await app.request(path)).status).toBe(404)
  })

  test('is revalidated with its tag', async () => {
    const etag = (await openPage()).headers.get('etag') ?? ''
    expect(etag).toMatch(/^"[0-9a-f]{16}"$/)
    const again = await openPage({ 'if-none-match': `W/${etag}` })
    expect([again.status, await again.text()]).toEqual([304, ''])
    expect((await openPage({ 'if-none-match': '"other"' })).status).toBe(200)
  })

  test('is described in a sentence to a program', async () => {
    for (const accept of ['*/*', 'application/json', null]) {
      const reply = await app.request('/', { headers: { accept, authorization: null } })
      expect(reply.headers.get('content-type')).toStartWith('application/json')
      expect(await reply.json()).toMatchObject({ name: 'weir', openapi: '/openapi.json' })
    }
  })

  test('appears in no request log and in no metric', async () => {
    await using other = await startApp()
    await other.request('/', { headers: browserHeaders })
    await other.requestLines.of(await other.request('/v1/models'))
    expect(other.requestLines.all.map((line) => fieldsOf(JSON.parse(line)).path)).toEqual(['/v1/models'])
    const requests = (await (await other.request('/metrics')).text()).match(/^weir_requests_total.*$/gm)
    expect(requests?.map((line) => line.split(' ').at(-1))).toEqual(['1'])
  })

  test('is a 404 where it is disabled, as every other path without a route', async () => {
    await using other = await startApp({ settings: { page: false } })
    const reply = await other.request('/', { headers: browserHeaders })
    expect(reply.status).toBe(404)
    expect(reply.headers.get('content-type')).toStartWith('application/json')
    expect((await other.request('/', { method: 'HEAD' })).status).toBe(200)
  })

  test('is small, and sent in the smallest encoding that the client accepts', async () => {
    const { files } = await bundlePage()
    const compressed = await Promise.all(
      files.map(async (file) => ({ file, encodings: await compressPageFile(file) })),
    )
    const sizeOf = (encoding: 'br' | 'gzip') =>
      compressed.reduce((total, { encodings }) => total + encodings[encoding].length, 0)
    expect(sizeOf('gzip')).toBeLessThan(sizeBudget)
    expect(sizeOf('br')).toBeLessThan(sizeOf('gzip'))
    const served = compressed.map(({ file: { path, contentType, hash }, encodings }) => ({
      path,
      contentType,
      hash,
      encodings: {
        identity: new Blob([encodings.identity]),
        gzip: new Blob([encodings.gzip]),
        br: new Blob([encodings.br]),
      },
    }))
    const plugin = pagePlugin(true, () => Promise.resolve(served))
    for (const [accepted, expected] of [
      ['gzip, deflate, br', 'br'],
      ['gzip;q=1.0, br;q=0', 'gzip'],
      ['identity', null],
      ['', null],
    ] as const) {
      const headers = { accept: 'text/html', 'accept-encoding': accepted }
      const reply = await plugin.handle(new Request('http://weir.test/', { headers }))
      expect(reply.headers.get('content-encoding')).toBe(expected)
      expect(reply.headers.get('vary')).toContain('Accept-Encoding')
    }
  })
})
