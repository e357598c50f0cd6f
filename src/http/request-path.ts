import { Elysia } from 'elysia'
import { routeNotFound } from '../lib/errors/http-errors.ts'
import { fieldsOf } from '../lib/json/json.ts'

/**
 * The path of a request as it was sent; `/` where it is empty. The URL is not parsed: its host comes from the client, and
 * may be invalid.
 */
export function requestPath({ url }: Request): string {
  const host = url.indexOf('://')
  const start = url.indexOf('/', host < 0 ? 0 : host + 3)
  if (start < 0) return '/'
  const path = url.slice(start)
  const end = path.search(/[?#]/)
  return end < 0 ? path : path.slice(0, end) || '/'
}

const noHint = { sentence: '', reason: 'unknown_path' } as const

/** Rejects a path whose parameters cannot be decoded, with 404: no resource has such an id. Routes receive strings. */
export function decodablePath() {
  return new Elysia({ name: 'decodable-path' }).onTransform(
    { as: 'scoped' },
    function rejectUndecodable({ params, request }) {
      // Elysia sets a parameter that it cannot decode to null, and leaves `params` out where there are none; its types
      // declare neither.
      const values = Object.values(fieldsOf(params))
      if (values.includes(null)) throw routeNotFound(request.method, requestPath(request), noHint)
    },
  )
}
