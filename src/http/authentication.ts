import { bearer } from '@elysiajs/bearer'
import { Elysia } from 'elysia'
import { isAnthropicRequest } from './anthropic-request.ts'
import {
  type ApiKey,
  parseApiKey,
  verifySecret,
  type Organization,
} from '../domain/accounting/organization.ts'
import { missingKey, invalidKey, noOrganization } from '../lib/errors/http-errors.ts'
import type { KeyDirectory, KnownKey } from '../storage/ports/accounts.ts'

/** The organization and the key that a request authenticates as. */
export type Caller = Pick<KnownKey, 'hasCredit'> & {
  readonly organization: Organization
  readonly keyId: string
}

/**
 * Gives every route of the plugin that uses it a `caller`. Rejects a request before its body is read: with 401 without a
 * valid key, with 403 where the organization of the key was deleted.
 */
export function authentication(keys: KeyDirectory, now: () => number = Date.now) {
  return new Elysia({ name: 'authentication' })
    .use(bearer({ extract: { header: 'Bearer', query: '', body: '' } }))
    .derive({ as: 'scoped' }, function authenticate({ request, bearer }) {
      const token = apiKeyHeader(request) ?? tokenFrom(request.headers.get('authorization') ?? '', bearer)
      // Elysia waits for a function that returns the result of another one; a cached key needs no promise.
      return withCaller(identify(keys, token, now))
    })
}

function withCaller(caller: Caller | Promise<Caller>) {
  return caller instanceof Promise ? caller.then((caller) => ({ caller })) : { caller }
}

/**
 * The token of the header, or the 401. The plugin also accepts tokens in `Bearer-…` and in a nameless query parameter,
 * and none behind another case of the scheme, which is case-insensitive: its token counts for `Bearer ` alone.
 */
function tokenFrom(header: string, pluginToken: string | undefined): string {
  if (header.startsWith('Bearer ') && pluginToken !== undefined) return pluginToken.trim()
  const [, token] = /^bearer +(.*)$/i.exec(header) ?? []
  if (token === undefined) throw missingKey()
  return token.trim()
}

/**
 * The key in Anthropic's header, for clients of Anthropic's API. Some of them send two keys: only one in the format of
 * Weir precedes that of the bearer.
 */
function apiKeyHeader(request: Request): string | undefined {
  const key = request.headers.get('x-api-key')?.trim()
  if (!key || !isAnthropicRequest(request)) return undefined
  const replacesBearer = !request.headers.has('authorization') || parseApiKey(key) !== undefined
  return replacesBearer ? key : undefined
}

/** The caller of a request outside of the routes of the plugin above; throws the same errors. */
export function authenticateHeaders(
  keys: KeyDirectory,
  headers: Headers,
  now: () => number = Date.now,
): Caller | Promise<Caller> {
  return identify(keys, tokenFrom(headers.get('authorization') ?? '', undefined), now)
}

/** The public id of the key that a request sends, valid or not; undefined without a key in the format of Weir. */
export function claimedKey(headers: Headers): string | undefined {
  const [, token = ''] = /^bearer +(.*)$/i.exec(headers.get('authorization') ?? '') ?? []
  return (parseApiKey(token.trim()) ?? parseApiKey(headers.get('x-api-key')?.trim() ?? ''))?.publicId
}

function identify(keys: KeyDirectory, token: string, now: () => number): Caller | Promise<Caller> {
  const parts = parseApiKey(token)
  if (parts === undefined) throw invalidKey('malformed_key')
  const key = keys.find(parts.publicId)
  return key instanceof Promise
    ? key.then((found) => toCaller(found, parts, now()))
    : toCaller(key, parts, now())
}

function toCaller(key: KnownKey | undefined, { publicId, secret }: ApiKey, now: number): Caller {
  if (key && !verifySecret(secret, key.secretHash)) throw invalidKey('wrong_secret')
  return requireValid(key, publicId, now)
}

/** The caller of a key whose secret is verified; throws the 401 or 403 of a key that is not valid any more. */
export function requireValid(key: KnownKey | undefined, publicId: string, now: number): Caller {
  if (key === undefined) throw invalidKey('unknown_key')
  if (key.revokedAt !== null) throw invalidKey('revoked_key', publicId)
  if (key.expiresAt !== null && key.expiresAt <= now) throw invalidKey('expired_key', publicId)
  if (key.organization === null) throw noOrganization(publicId)
  return { organization: key.organization, keyId: publicId, hasCredit: key.hasCredit }
}
