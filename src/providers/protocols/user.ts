import { createHash } from 'node:crypto'

/** In characters: several providers reject a longer id of a user. */
const maxLength = 64

/** The id of the caller's user as providers accept it: a long id is hashed, always to the same id. */
export function renderUser(user: string | undefined): string | undefined {
  if (user === undefined || user.length <= maxLength) return user
  return createHash('sha256').update(user).digest('hex')
}
