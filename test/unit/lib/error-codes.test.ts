import { describe, expect, test } from 'bun:test'
import type { ErrorCodeDetails } from '../../../src/lib/errors/error-code-details.ts'
import { errorCodeGroups } from '../../../src/lib/errors/error-codes.ts'
import * as errors from '../../../src/lib/errors/errors.ts'
import * as http from '../../../src/lib/errors/http-errors.ts'
import * as upstream from '../../../src/lib/errors/upstream-errors.ts'
import { sourceFiles } from '../../support/source.ts'

const errorCodes = new Map<string, ErrorCodeDetails>(Object.values(errorCodeGroups).flatMap(Object.entries))

/** Every constructor that decides its code by itself, and each that is called with one. */
const made: readonly errors.ApiError[] = [
  errors.nestedTooDeeply(1),
  errors.tooManyProperties(1, 1, null),
  errors.unsupportedParameter('x', 'n'),
  http.invalidKey('unknown_key'),
  errors.billingNotConfigured('x'),
  errors.insufficientBalance('x'),
  http.noOrganization(),
  http.metricsForbidden(),
  http.keyOfOperator(),
  http.adminKeyRequired('no_key'),
  http.invalidAdminKey('unknown_key'),
  errors.modelNotFound('x', 'unknown_model', 'x'),
  http.methodNotImplemented('FLY'),
  http.methodNotAllowed('PUT', '/', ['GET']),
  http.bodyTooLarge(1),
  http.bodyTooSlow(),
  http.unsupportedMediaType('x'),
  http.rateLimited('requests', 'x', 1),
  http.rateLimited('tokens', 'x', 1),
  errors.internalError(undefined),
  errors.serviceUnavailable('x'),
  errors.memoryExhausted(),
  errors.clientGone(),
  errors.runKeyInvalid('x', 'was revoked'),
  errors.runCancelled(),
  errors.gatewayStopping(),
  errors.interrupted(),
  errors.unreadableRun(),
  upstream.upstreamRejected('x', 'upstream_rejected'),
  upstream.upstreamRejected('x', 'context_length_exceeded'),
  upstream.upstreamRejected('x', 'content_filter'),
  upstream.providerKeyMissing('x'),
  upstream.upstreamBroken('provider_key_rejected', 'x'),
  upstream.upstreamBroken('provider_quota_exhausted', 'x'),
  upstream.upstreamBroken('upstream_model_not_found', 'x'),
  upstream.upstreamFailed('upstream_unavailable', 'x'),
  upstream.upstreamFailed('upstream_timeout', 'x'),
  upstream.upstreamFailed('upstream_rate_limited', 'x'),
]

/** The statuses that the official SDKs send again, unless `x-should-retry` is false. */
const isRetried = (status: number) => status === 408 || status === 409 || status === 429 || status >= 500

test.each(made.map((error) => [error.code ?? '', error] as const))(
  'the error %s has the status, the type and the retry of its entry',
  (code, error) => {
    const details = errorCodes.get(code)!
    expect(details.status).toBe(error.status)
    expect(details.type).toContain(error.type)
    expect(details.retried).toBe(isRetried(error.status) && error.headers['x-should-retry'] !== 'false')
  },
)

describe('the registry of error codes', () => {
  test('has no code that the source does not use', async () => {
    const files = (await sourceFiles('src')).filter(({ path }) => !path.endsWith('/error-codes.ts'))
    const source = files.map(({ text }) => text).join('\n')
    const isUsed = (code: string) => {
      // Those of numbers are composed of the kind and the bound.
      const [, bound] = /^(?:integer|decimal)_((?:below|above)_\w+)$/.exec(code) ?? []
      return source.includes(`'${bound ?? code}'`)
    }
    expect([...errorCodes.keys()].filter((code) => !isUsed(code))).toEqual([])
  })

  test('has an error status and a sentence for each cause and remedy', () => {
    for (const { status, cause, remedy } of errorCodes.values()) {
      expect(status >= 400 && status < 600).toBe(true)
      for (const sentence of [cause, remedy]) expect(sentence).toMatch(/^[A-Z].*\.$/)
    }
  })
})
