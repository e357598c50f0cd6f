import { originForbidden } from '../lib/errors/http-errors.ts'
const safeMethods: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS'])

/** Throws 403 if a page of an origin that is neither the gateway's own nor allowed sent a request that changes something. */
export function requireOwnOrigin({ method, headers }: Request, allowed: readonly string[]): void {
  const origin = headers.get('origin')
  if (origin === null || safeMethods.has(method) || allowed.includes(origin) || allowed.includes('*')) return
  const host = URL.parse(origin)?.host
  if (host === undefined || host !== headers.get('host')?.trim().toLowerCase()) throw originForbidden()
}
