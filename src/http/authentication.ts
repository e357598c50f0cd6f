import { bearer } from '@elysiajs/bearer'
import { Elysia } from 'elysia'
import { invalidKey, missingKey, noOrganization } from '../lib/errors/errors.ts'
import { parseApiKey, provesKey } from '../domain/accounting/api-key.ts'
import type { KeyDirectory } from '../storage/ports/key-directory.ts'
import type { Organization } from '../domain/accounting/organization.ts'

/** Who sent a request. */
export type Caller = { readonly organization: Organization; readonly keyId: string }

/**
 * Gives every route of the plugin that uses it a `caller`, or refuses the request before its body is read:
 * 401 without a valid key, 403 where the organization of the key is gone.
 */
export function authentication(keys: KeyDirectory, now: () => number = Date.now) {
  return new Elysia({ name: 'authentication' })
    .use(bearer({ extract: { header: 'Bearer', query: '', body: '' } }))
    .derive({ as: 'scoped' }, function authenticate({ request, bearer }) {
      const token = tokenFrom(request.headers.get('authorization') ?? '', bearer)
      return { caller: identify(keys, token, now()) }
    })
}

/**
 * The plugin also finds tokens in `Bearer-…` and in a nameless query parameter, and none behind another spelling of
 * the scheme, which is case-insensitive: only the header counts.
 */
function tokenFrom(header: string, found: string | undefined): string {
  if (header.startsWith('Bearer ') && found !== undefined) return found.trim()
  const [, token] = /^bearer +(.*)$/i.exec(header) ?? []
  if (token === undefined) throw missingKey()
  return token.trim()
}

/** The public id of the key that a request sends, whether or not it is valid; absent where it sends none of ours. */
export function claimedKey(headers: Headers): string | undefined {
  const [, token = ''] = /^bearer +(.*)$/i.exec(headers.get('authorization') ?? '') ?? []
  return parseApiKey(token.trim())?.publicId
}

function identify(keys: KeyDirectory, token: string, now: number): Caller {
  const parts = parseApiKey(token)
  if (parts === undefined) throw invalidKey('malformed_key')
  const { publicId, secret } = parts
  const key = keys.find(publicId)
  if (key === undefined) throw invalidKey('unknown_key')
  if (!provesKey(secret, key.secretHash)) throw invalidKey('wrong_secret')
  if (key.revokedAt !== null) throw invalidKey('revoked_key', publicId)
  if (key.expiresAt !== null && key.expiresAt <= now) throw invalidKey('expired_key', publicId)
  if (key.organization === null) throw noOrganization(publicId)
  return { organization: key.organization, keyId: publicId }
}
