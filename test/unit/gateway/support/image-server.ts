import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { NetworkOverrides } from '../../../../src/lib/pinned-fetch.ts'

const folder = join(import.meta.dir, '../../../fixtures/tls')
/** For images.test, elsewhere.test and 127.0.0.1, good until 2125. */
const certificate = readFileSync(join(folder, 'certificate.pem'), 'utf8')

/** An https server on loopback and the surroundings in which every host of `names` is there. */
export function imageServer(reply: (request: Request) => Response | Promise<Response>) {
  const requested: { readonly host: string | null; readonly path: string }[] = []
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    tls: { cert: certificate, key: readFileSync(join(folder, 'key.pem'), 'utf8') },
    fetch(request) {
      requested.push({ host: request.headers.get('host'), path: new URL(request.url).pathname })
      return reply(request)
    },
  })
  const surroundings: NetworkOverrides = {
    allow: (address) => address === '127.0.0.1',
    resolve: async (host) => (host.endsWith('.test') ? ['127.0.0.1'] : []),
    ca: certificate,
  }
  const url = (path: string, host = 'images.test') => `https://${host}:${server.port}${path}`
  return {
    asked: requested,
    surroundings,
    url,
    port: server.port,
    [Symbol.dispose]: () => void server.stop(true),
  }
}

/** The least that passes for a PNG. */
export const png = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex')

/** A reply with these bytes. */
export function imageReply(
  bytes: Uint8Array<ArrayBuffer> = new Uint8Array(png),
  type = 'image/png',
): Response {
  return new Response(bytes, { headers: { 'content-type': type } })
}
