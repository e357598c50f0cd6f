import { Elysia } from 'elysia'
import { invalidKey, missingKey, noOrganization } from '../lib/errors.ts'
import { parseApiKey, provesKey } from '../storage/api-key.ts'
import type { KeyDirectory } from '../storage/key-directory.ts'
import type { Organization } from '../storage/organization.ts'

/** Who sent a request. */
export type Caller = { readonly organization: Organization; readonly keyId: string }

/**
 * Gives every route of the plugin that uses it a `caller`, or refuses the request before its body is read:
 * 401 without a valid key, 403 where the organization of the key is gone.
 */
export function authentication(keys: KeyDirectory, now: () => number = Date.now) {
  // The request itself is read, not what Elysia takes from it: that it guesses from the source text of hooks, which
  // a minified build changes. For the same reason the bearer plugin fails there, on every request without a key.
  return new Elysia({ name: 'authentication' }).derive({ as: 'scoped' }, function authenticate({ request }) {
    const token = tokenFrom(request.headers.get('authorization') ?? '')
    return { caller: identify(keys, token, now()) }
  })
}

/** The token of a bearer header; the scheme is case-insensitive. */
function tokenFrom(header: string): string {
  const [, token] = /^bearer +(.*)$/i.exec(header) ?? []
  if (token === undefined) throw missingKey()
  return token.trim()
}

function identify(keys: KeyDirectory, token: string, now: number): Caller {
  const parts = parseApiKey(token)
  const key = parts && keys.find(parts.publicId)
  if (parts === undefined || key === undefined) throw invalidKey()
  if (!provesKey(parts.secret, key.secretHash) || key.revokedAt !== null) throw invalidKey()
  if (key.expiresAt !== null && key.expiresAt <= now) throw invalidKey()
  if (key.organization === null) throw noOrganization()
  return { organization: key.organization, keyId: key.publicId }
}
