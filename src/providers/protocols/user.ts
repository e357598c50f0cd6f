import { createHash } from 'node:crypto'
import type { Generation } from '../../domain/generation/request.ts'

/** In characters: several providers reject a longer id of a user. */
const maxLength = 64

/**
 * The id of the caller's user. Clients of Anthropic's API write whole objects there, which other providers reject: such
 * an id is hashed, always to the same one. In other APIs the caller has chosen it for this provider.
 */
export function renderUser({ user, source }: Pick<Generation, 'user' | 'source'>): string | undefined {
  if (source?.protocol !== 'anthropic' || user === undefined || user.length <= maxLength) return user
  return createHash('sha256').update(user).digest('hex')
}
