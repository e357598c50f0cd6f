import { Elysia } from 'elysia'
import { authentication } from '../../../../src/http/authentication.ts'
import { ApiError } from '../../../../src/lib/errors/errors.ts'
import type { KeyDirectory } from '../../../../src/storage/ports/known-keys.ts'

/** A small app with a protected route, `/who`, and an open one, `/open`. */
export function authenticatedApp(keys: KeyDirectory, now: () => number = Date.now) {
  const protectedRoutes = new Elysia().use(authentication(keys, now)).get('/who', ({ caller }) => caller)
  return new Elysia()
    .onError(({ error }) => (error instanceof ApiError ? reply(error) : new Response('', { status: 500 })))
    .get('/open', (context) => ({ knowsCaller: 'caller' in context }))
    .use(protectedRoutes)
}

function reply(error: ApiError): Response {
  return Response.json(error.toBody(), { status: error.status, headers: { ...error.headers } })
}
