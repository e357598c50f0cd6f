import type { Fault } from './fault.ts'

/** Requests that are accepted or answered wrong. */
export const httpFaults: readonly Fault[] = [
  {
    name: 'a key with a wrong secret is accepted',
    file: 'src/http/authentication.ts',
    original: 'if (key && !verifySecret(secret, key.secretHash)) throw',
    replacement: 'if (key && !verifySecret(secret, key.secretHash) && key.revokedAt !== null) throw',
    tests: ['test/unit/storage/authentication.test.ts'],
  },
  {
    name: 'a revoked key is accepted until it expires',
    file: 'src/gateway/access/valid-key.ts',
    original: 'if (revokedAt !== null) return',
    replacement: 'if (revokedAt !== null && expiresAt !== null) return',
    tests: ['test/unit/storage/authentication.test.ts'],
  },
  {
    name: 'the header of the remaining tokens has the remaining requests',
    file: 'src/http/rate-limit-headers.ts',
    original: "headers['x-ratelimit-remaining-tokens'] = String(tokens.remaining)",
    replacement: "headers['x-ratelimit-remaining-tokens'] = String(requests.remaining)",
    tests: ['test/api/limits/call-limits.test.ts'],
  },
  {
    name: 'a body without a content length may exceed the limit',
    file: 'src/lib/read-text.ts',
    original: 'length += value.byteLength',
    replacement: 'length = value.byteLength',
    tests: ['test/api/http/body.test.ts'],
  },
  {
    name: 'a body may nest arrays to any depth',
    file: 'src/lib/validation/json-bounds.ts',
    original: 'case 91: // opening brackets',
    replacement: 'case -1: // opening brackets',
    tests: ['test/unit/lib/json-bounds.test.ts'],
  },
  {
    name: 'an error of a rate limit has an unknown type for clients of Anthropic',
    file: 'src/http/anthropic-error.ts',
    original: "[429, 'rate_limit_error']",
    replacement: "[429, 'rate_limit_exceeded']",
    tests: ['test/api/money/messages.test.ts'],
  },
  {
    name: 'the page may run scripts within its document',
    file: 'src/api/page/routes.ts',
    original: `"script-src 'self'"`,
    replacement: `"script-src 'self' 'unsafe-inline'"`,
    tests: ['test/api/http/page.test.ts'],
  },
  {
    name: 'the OpenAPI document omits a route',
    file: 'src/http/openapi.ts',
    original: '[...routes, ...plugin.routes]',
    replacement: '[...routes]',
    tests: ['test/api/http/openapi.test.ts'],
  },
  {
    name: 'a message is cut before the key of the provider is removed from it',
    file: 'src/gateway/streams/upstream-error.ts',
    original: `  let text = message
  for (const key of keys)`,
    replacement: `  let text = message.slice(0, maxLength)
  for (const key of keys)`,
    tests: ['test/unit/gateway/upstream-error.test.ts'],
  },
]
