import { bearer } from '@elysiajs/bearer'
import { Elysia } from 'elysia'
import { type KeyPermission, type Organization } from '../domain/accounting/organization.ts'
import {
  adminKeyPrefix,
  type ApiKey,
  parseAdminKey,
  parseApiKey,
  verifySecret,
} from '../domain/accounting/api-key.ts'
import { type CallerLimits, callerLimits } from '../gateway/access/caller-limits.ts'
import { keyEndOf, requireEnabled } from '../gateway/access/valid-key.ts'
import { ApiError } from '../lib/errors/errors.ts'
import { invalidKey, keyOfOperator, missingKey } from '../lib/errors/http-errors.ts'
import { nextTurn, repeatEvery } from '../lib/time.ts'
import type { KeyDirectory, KnownKey } from '../storage/ports/known-keys.ts'
import { isAnthropicRequest } from './anthropic-error.ts'

/** The organization and the key that a request authenticates as, and what limits it. */
export type Caller = Pick<KnownKey, 'hasCredit' | 'contentLog'> & {
  readonly organization: Organization
  readonly keyId: string
  readonly keyName: string
  /** The id and the name of its project; null for a key without one. */
  readonly project: { readonly id: string; readonly name: string } | null
  readonly limits: CallerLimits
  readonly permissions: readonly KeyPermission[]
}

/**
 * Gives every route of the plugin that uses it a `caller`. Rejects a request before its body is read: with 401 without a
 * valid key, with 403 where the organization of the key was deleted. The 401 for an admin key says so: for those of the
 * database by their prefix, for the one of the environment by `isAdminKey`.
 */
export function authentication(
  keys: KeyDirectory,
  now: () => number = Date.now,
  isAdminKey?: (token: string) => boolean,
) {
  return new Elysia({ name: 'authentication' })
    .use(bearer({ extract: { header: 'Bearer', query: '', body: '' } }))
    .derive({ as: 'scoped' }, function authenticate({ request, bearer }) {
      const token = apiKeyHeader(request) ?? tokenFrom(request.headers.get('authorization') ?? '', bearer)
      // Elysia waits for a function that returns the result of another one; a cached key needs no promise.
      return withCaller(identify(keys, token, now, isAdminKey))
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
  const token = bearerToken(header)
  if (token === undefined) throw missingKey()
  return token
}

/** The token of an `authorization` header whose scheme is `Bearer`, in any case. */
export function bearerToken(header: string | null): string | undefined {
  return /^bearer +(.*)$/i.exec(header ?? '')?.[1]?.trim()
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
  const token = bearerToken(headers.get('authorization')) ?? ''
  const key =
    parseApiKey(token) ?? parseAdminKey(token) ?? parseApiKey(headers.get('x-api-key')?.trim() ?? '')
  return key?.publicId
}

function identify(
  keys: KeyDirectory,
  token: string,
  now: () => number,
  isAdminKey?: (token: string) => boolean,
): Caller | Promise<Caller> {
  const parts = parseApiKey(token)
  if (parts === undefined)
    throw token.startsWith(adminKeyPrefix) || isAdminKey?.(token)
      ? keyOfOperator()
      : invalidKey('malformed_key')
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
function requireValid(key: KnownKey | undefined, publicId: string, now: number): Caller {
  if (key === undefined) throw invalidKey('unknown_key')
  const end = keyEndOf(key, now)
  if (end !== undefined) throw invalidKey(`${end}_key`, publicId)
  return callerOf(key, requireEnabled(key))
}

/** The callers of the keys that the directory has cached. */
const callers = new WeakMap<KnownKey, Caller>()

/** Makes the caller of a key once, for as long as the directory has it. */
function callerOf(key: KnownKey, organization: Organization): Caller {
  const known = callers.get(key)
  if (known !== undefined) return known
  const { publicId, name: keyName, project, hasCredit, permissions, contentLog } = key
  const caller = {
    organization,
    keyId: publicId,
    keyName,
    hasCredit,
    project: project && { id: project.id, name: project.name },
    limits: callerLimits(key, organization),
    permissions,
    contentLog,
  }
  callers.set(key, caller)
  return caller
}

/** Milliseconds. With the age of a cached key, a stream ends at most three seconds after its key. */
const defaultIntervalMs = 2000

/** Keys that are looked up at once; a database may have a connection for each. */
const maxLookups = 16

/** Ends an open stream with this error. */
export type EndStream = (error: ApiError) => void

/** A request that waits for a model. */
type WaitingCall = { readonly waitingKey: string | undefined; cancel(reason: ApiError): void }

/**
 * Ends the open streams of keys that expire or are revoked, and of organizations that are deleted, and their requests
 * to models, also those of which no provider has sent anything yet.
 */
export class KeyWatch {
  readonly #keys: Pick<KeyDirectory, 'find'>
  readonly #calls: () => readonly WaitingCall[]
  readonly #now: () => number
  /** By the public id of their key. */
  readonly #streams = new Map<string, Set<EndStream>>()

  /** `calls` returns those in flight; `now` is milliseconds since 1970. */
  constructor(
    keys: Pick<KeyDirectory, 'find'>,
    calls: () => readonly WaitingCall[] = () => [],
    now: () => number = Date.now,
  ) {
    this.#keys = keys
    this.#calls = calls
    this.#now = now
  }

  /** Watches the key of a stream; returns a function that ends the watch. */
  watch(keyId: string, end: EndStream): () => void {
    const streams = this.#streams.get(keyId) ?? new Set()
    this.#streams.set(keyId, streams.add(end))
    return () => {
      streams.delete(end)
      if (streams.size === 0 && this.#streams.get(keyId) === streams) this.#streams.delete(keyId)
    }
  }

  /** Looks up each key that has open streams or calls, once for all of them. */
  async check(): Promise<void> {
    const calls = Map.groupBy(this.#calls(), ({ waitingKey }) => waitingKey)
    calls.delete(undefined)
    const keyIds = [...new Set([...this.#streams.keys(), ...calls.keys()])].filter((id) => id !== undefined)
    for (let start = 0; start < keyIds.length; start += maxLookups) {
      await Promise.all(
        keyIds.slice(start, start + maxLookups).map((id) => this.#checkKey(id, calls.get(id))),
      )
      await nextTurn()
    }
  }

  /** Checks the keys until it is stopped. */
  start(onError: (error: unknown) => void, intervalMs = defaultIntervalMs): { stop(): void } {
    return repeatEvery(intervalMs, () => this.check(), onError)
  }

  async #checkKey(keyId: string, calls: readonly WaitingCall[] = []): Promise<void> {
    try {
      requireValid(await this.#keys.find(keyId), keyId, this.#now())
    } catch (error) {
      // While the database is unavailable, streams go on.
      if (!(error instanceof ApiError) || error.status >= 500) return
      for (const end of this.#streams.get(keyId) ?? []) end(error)
      for (const call of calls) call.cancel(error)
    }
  }
}
