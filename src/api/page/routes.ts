import { Elysia } from 'elysia'
import { requestPath } from '../../http/routing.ts'
import { routeNotFound } from '../../lib/errors/http-errors.ts'
import type { Encoding, PageFile } from './page-file.ts'
import { pageFiles } from './page-files.ts'

/**
 * Serves the page, to browsers at `/`, and its files below `/page`. It answers before the telemetry, because these
 * requests are no calls of the API: they appear in no log, metric or OpenAPI document.
 */
export function page(enabled: boolean, files: () => Promise<readonly PageFile[]> = pageFiles) {
  const plugin = new Elysia({ name: 'page' })
  if (!enabled) return plugin
  return plugin.onRequest(function servePage({ request }) {
    if (request.method !== 'GET' && request.method !== 'HEAD') return undefined
    const path = requestPath(request)
    // In a variable: Elysia waits, for every request, if a hook returns the result of another function.
    let reply: Response | Promise<Response> | undefined
    if (path === '/') reply = acceptsHtml(request) ? serveFile(files, request) : introduction()
    else if (path.startsWith('/page/')) reply = serveFile(files, request)
    return reply
  })
}

/** Replies with a file, or with the 404 for one that does not exist. */
async function serveFile(files: () => Promise<readonly PageFile[]>, request: Request): Promise<Response> {
  const path = requestPath(request)
  const file = (await files()).find((file) => file.path === path)
  if (file !== undefined) return reply(file, request)
  const missing = routeNotFound(request.method, path, { sentence: '', reason: 'unknown_path' })
  return Response.json(missing.toBody(), { status: missing.status, headers: securityHeaders })
}

/** Browsers name the type; `curl` and SDKs accept anything. */
function acceptsHtml({ headers }: Request): boolean {
  return /\btext\/html\b/i.test(headers.get('accept') ?? '')
}

/** For a program that asks what is here. */
function introduction(): Response {
  const message =
    'This is Weir, an inference gateway. Open this address in a browser for its page. The API is below /v1 and is described in /openapi.json.'
  const headers = { ...securityHeaders, vary: 'Accept', 'cache-control': 'no-cache' }
  return Response.json({ name: 'weir', message, api: '/v1', openapi: '/openapi.json' }, { headers })
}

function reply(file: PageFile, request: Request): Response {
  const etag = `"${file.hash}"`
  const headers = {
    ...securityHeaders,
    etag,
    vary: 'Accept, Accept-Encoding',
    // The address of an asset changes with its content; that of the document does not.
    'cache-control': file.path === '/' ? 'no-cache' : 'public, max-age=31536000, immutable',
  }
  if (matches(request.headers.get('if-none-match'), etag)) return new Response(null, { status: 304, headers })
  const encoding = pickEncoding(file, request.headers.get('accept-encoding') ?? '')
  return new Response(file.encodings[encoding], {
    headers: {
      ...headers,
      'content-type': file.contentType,
      ...(encoding !== 'identity' && { 'content-encoding': encoding }),
    },
  })
}

/** Proxies may have weakened the tag. */
function matches(condition: string | null, etag: string): boolean {
  return condition?.split(',').some((tag) => tag.trim().replace(/^W\//, '') === etag) === true
}

const preferredEncodings: readonly Encoding[] = ['br', 'gzip']

/** Returns the smallest encoding that the client accepts. */
function pickEncoding({ encodings }: PageFile, accepted: string): Encoding {
  const names = accepted
    .toLowerCase()
    .split(',')
    .filter((entry) => !/;\s*q=0(\.0*)?\s*$/.test(entry))
    .map((entry) => entry.split(';', 1)[0]?.trim())
  return preferredEncodings.find((one) => encodings[one] !== undefined && names.includes(one)) ?? 'identity'
}

/**
 * The headers of the document: it loads nothing from elsewhere, runs no script but its own, makes no markup from text,
 * and is shown in no frame.
 */
const securityHeaders: Readonly<Record<string, string>> = {
  'content-security-policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "connect-src 'self'",
    "img-src 'self' data: blob:",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; '),
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=()',
}
