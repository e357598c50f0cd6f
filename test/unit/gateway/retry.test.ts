import { describe, expect, test } from 'bun:test'
import type { FailureKind } from '../../../src/config/model-details.ts'
import {
  combinedFailure,
  failureKind,
  isRetryable,
  isRouteFailure,
  mayLeave,
  retryDelayMs,
} from '../../../src/gateway/routing/retry.ts'
import { parseRetryAfter } from '../../../src/gateway/streams/upstream-request.ts'
import {
  type ApiError,
  badRequest,
  clientGone,
  internalError,
  serviceUnavailable,
} from '../../../src/lib/errors/errors.ts'
import { upstreamBroken, upstreamFailed, upstreamRejected } from '../../../src/lib/errors/upstream-errors.ts'
import { provider } from './support/model-fixtures.ts'

type Verdict = { readonly again: boolean; readonly kind: FailureKind | undefined; readonly blamed: boolean }

const verdicts: readonly (readonly [name: string, error: unknown, verdict: Verdict])[] = [
  [
    'unavailable',
    upstreamFailed('upstream_unavailable', 'x'),
    { again: true, kind: 'unavailable', blamed: true },
  ],
  ['timeout', upstreamFailed('upstream_timeout', 'x'), { again: false, kind: 'timeout', blamed: true }],
  [
    'rate',
    upstreamFailed('upstream_rate_limited', 'x'),
    { again: true, kind: 'rate_limited', blamed: false },
  ],
  [
    'rate, 2 s',
    upstreamFailed('upstream_rate_limited', 'x', 2),
    { again: true, kind: 'rate_limited', blamed: false },
  ],
  [
    'rate, 2.1 s',
    upstreamFailed('upstream_rate_limited', 'x', 2.1),
    { again: false, kind: 'rate_limited', blamed: false },
  ],
  [
    'unavailable, 2.1 s',
    upstreamFailed('upstream_unavailable', 'x', 2.1),
    { again: false, kind: 'unavailable', blamed: true },
  ],
  ['key', upstreamBroken('provider_key_rejected', 'x'), { again: false, kind: 'unavailable', blamed: false }],
  [
    'quota',
    upstreamBroken('provider_quota_exhausted', 'x'),
    { again: false, kind: 'unavailable', blamed: false },
  ],
  [
    'model',
    upstreamBroken('upstream_model_not_found', 'x'),
    { again: false, kind: 'unavailable', blamed: false },
  ],
  ['rejected', upstreamRejected('x', 'upstream_rejected'), { again: false, kind: undefined, blamed: false }],
  [
    'context',
    upstreamRejected('x', 'context_length_exceeded'),
    { again: false, kind: 'context_length', blamed: false },
  ],
  [
    'content filter',
    upstreamRejected('x', 'content_filter'),
    { again: false, kind: undefined, blamed: false },
  ],
  ['bad request', badRequest('x', null, null), { again: false, kind: undefined, blamed: false }],
  ['own outage', serviceUnavailable('x'), { again: false, kind: undefined, blamed: false }],
  ['own fault', internalError('x'), { again: false, kind: undefined, blamed: false }],
  ['client disconnected', clientGone(), { again: false, kind: undefined, blamed: false }],
  ['foreign error', new Error('x'), { again: false, kind: undefined, blamed: false }],
]

test.each([...verdicts])(
  'retry, failover and the circuit breaker depend on the error: %s',
  (_, error, verdict) => {
    expect({
      again: isRetryable(error),
      kind: failureKind(error),
      blamed: isRouteFailure(error),
    }).toEqual(verdict)
  },
)

const route = { provider: provider('alpha'), model: 'one' }

test.each(['unavailable', 'rate_limited', 'timeout', 'context_length'] as const)(
  'a route is left for the kinds of its setting, by default for all but a long prompt: %s',
  (kind) => {
    expect(mayLeave(route, kind)).toBe(kind !== 'context_length')
    expect(mayLeave({ ...route, on: [kind] }, kind)).toBe(true)
    expect(mayLeave({ ...route, on: [] }, kind)).toBe(false)
  },
)

test('the retry delay doubles from 0.2 to 2 seconds, half of it random', () => {
  const error = upstreamFailed('upstream_unavailable', 'x')
  const max = [0, 1, 2, 3, 4, 20].map((attempt) => retryDelayMs(attempt, error, () => 1))
  const shortest = [0, 1, 2, 3, 4, 20].map((attempt) => retryDelayMs(attempt, error, () => 0))
  expect(max).toEqual([200, 400, 800, 1600, 2000, 2000])
  expect(shortest).toEqual(max.map((pause) => pause / 2))
})

test.each([
  ['upstream_rate_limited', 1],
  ['upstream_unavailable', 2],
] as const)(
  'the retry delay is never shorter than the retry-after of the provider: %s, %d s',
  (code, seconds) => {
    const error = upstreamFailed(code, 'x', seconds)
    for (const attempt of [0, 1]) {
      expect(retryDelayMs(attempt, error, () => 0)).toBe(seconds * 1000)
      expect(retryDelayMs(attempt, error, () => 1)).toBe(seconds * 1000 + 100 * 2 ** attempt)
    }
  },
)

describe('the retry-after of a provider', () => {
  const now = Date.parse('2026-01-01T00:00:00Z')

  test.each([
    [{ 'retry-after': '7' }, 7],
    [{ 'retry-after': '0' }, 0],
    [{ 'retry-after': '0.5' }, 0.5],
    [{ 'retry-after-ms': '1500', 'retry-after': '9' }, 1.5],
    [{ 'retry-after-ms': 'x', 'retry-after': '9' }, 9],
    [{ 'retry-after': 'Thu, 01 Jan 2026 00:00:30 GMT' }, 30],
    [{ 'retry-after': 'Wed, 31 Dec 2025 23:59:00 GMT' }, 0],
    [{ 'retry-after': 'soon' }, undefined],
    [{}, undefined],
  ])('is read from its headers: %j', (headers, seconds) => {
    expect(parseRetryAfter(new Headers(headers as Record<string, string>), now)).toBe(seconds as number)
  })

  test.each([
    [undefined, undefined],
    [0, '1'],
    [1.2, '2'],
    [60, '60'],
    [3600, '60'],
  ])('is passed on in whole seconds from 1 to 60: %p', (seconds, header) => {
    const error: ApiError = upstreamFailed('upstream_rate_limited', 'x', seconds)
    expect(error.headers['retry-after']).toBe(header)
  })
})

test('the failure of all routes does not repeat what one provider says of the request', () => {
  const rejected = badRequest('acme: “My secret plan” is too long.', 'context_length_exceeded', null)
  const failed = upstreamFailed('upstream_unavailable', 'other is not available.')
  expect((combinedFailure([rejected, failed]) as ApiError).message).toBe(failed.message)
  expect((combinedFailure([rejected]) as ApiError).message).toBe(rejected.message)
})
