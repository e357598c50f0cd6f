import { Elysia } from 'elysia'
import { routeNotFound } from '../lib/errors/errors.ts'
import { fieldsOf } from '../lib/json/json.ts'
import { requestPath } from './request-path.ts'

const undecodable = { sentence: '', reason: 'unknown_path' } as const

/** Refuses paths that cannot be decoded, with 404: nothing goes by such a name. Routes find strings in theirs. */
export function decodedPath() {
  return new Elysia({ name: 'decoded-path' }).onTransform(
    { as: 'scoped' },
    function refuseUndecoded({ params, request }) {
      // Elysia has null for what it could not decode, and nothing where there are none: its types tell neither.
      const values = Object.values(fieldsOf(params))
      if (values.includes(null)) throw routeNotFound(request.method, requestPath(request), undecodable)
    },
  )
}
