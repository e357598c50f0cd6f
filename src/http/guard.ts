import { Elysia } from 'elysia'
import type { KeyDirectory } from '../storage/key-directory.ts'
import { authentication } from './authentication.ts'
import { jsonBody } from './json-body.ts'

/** What every route of the interface stands behind: first the key, then the body. */
export type Guard = ReturnType<typeof createGuard>

/** Routes of a plugin that uses the guard have a `caller`, and a body that was read after the caller was known. */
export function createGuard(keys: KeyDirectory, maxBody: number) {
  return new Elysia({ name: 'guard' }).use(authentication(keys)).use(jsonBody(maxBody)).as('scoped')
}
