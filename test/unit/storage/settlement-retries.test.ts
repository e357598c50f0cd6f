import { expect, test } from 'bun:test'
import { serviceUnavailable } from '../../../src/lib/errors/errors.ts'
import { createSettle, createSettlementRetries } from '../../../src/storage/common/settlement-retries.ts'
import type { Outcome } from '../../../src/domain/accounting/request-metadata.ts'
import { finished } from './support/response-fixture.ts'
import { requestOf } from './support/ledger-fixture.ts'

const locked = serviceUnavailable('The database is locked.')

/** Keeps these outcomes, and tries them with a database that fails as often as there are failures. */
function keepLate(failures: readonly Error[], ...outcomes: readonly Outcome[]) {
  const tried: Outcome[] = []
  const left = [...failures]
  const settled = Promise.withResolvers<void>()
  const late = createSettlementRetries(async (_, outcome) => {
    tried.push(outcome)
    const failure = left.shift()
    if (failure) throw failure
    settled.resolve()
  }, 1)
  for (const outcome of outcomes) late.add(requestOf('org_acme'), outcome)
  return { late, tried, settled: settled.promise }
}

test('a settlement that cannot be written is retried until it succeeds, and then never again', async () => {
  const { tried, settled } = keepLate([locked, locked, locked], { status: 499, error: 'client_gone' })
  await settled
  await Bun.sleep(20)
  expect(tried).toHaveLength(4)
})

test('a settlement is retried as it is', async () => {
  const outcome = { status: 200, cost: 5n }
  const { tried, settled } = keepLate([], outcome)
  await settled
  expect(tried).toEqual([outcome])
})

/** Settles with a database that is locked this often, and records what is left to the retries. */
function settleLocked(failures: number, storeTimeoutMs: number) {
  const [attempts, late]: [Outcome[], Outcome[]] = [[], []]
  const closing = new AbortController()
  const settle = createSettle(
    async (_, outcome) => {
      attempts.push(outcome)
      if (attempts.length <= failures) throw locked
      return { recorded: true, charged: 5n }
    },
    { add: (_, outcome) => void late.push(outcome) },
    closing.signal,
    storeTimeoutMs,
  )
  return {
    attempts,
    late,
    closing,
    settle: (outcome: Outcome, options = {}) => settle(requestOf('org_acme'), outcome, options),
  }
}

const stores = { writes: [{ kind: 'insert-response', response: finished('org_acme') }] } as const
const complete = { status: 200, cost: 5n }

test('a settlement that stores nothing is left to the retries as it is, after one attempt', async () => {
  const { settle, attempts, late } = settleLocked(1, 60_000)
  await expect(settle(complete)).rejects.toBe(locked)
  expect([attempts, late]).toEqual([[complete], [complete]])
})

test('an answer that is to be stored waits until the database is available', async () => {
  const { settle, attempts, late } = settleLocked(2, 60_000)
  expect(await settle(complete, stores)).toEqual({ recorded: true, charged: 5n })
  expect([attempts.length, late]).toEqual([3, []])
})

test('an answer that cannot be stored in time is an error that SDKs do not retry, and is settled as such', async () => {
  const { settle, late } = settleLocked(Infinity, 10)
  const error = await settle(complete, stores).catch((error: unknown) => error)
  expect(error).toMatchObject({ status: 503, code: 'response_not_stored', cause: locked })
  expect(error).toHaveProperty('headers', { 'x-should-retry': 'false' })
  expect(late).toEqual([{ status: 503, error: 'response_not_stored', cost: 5n }])
})

test('an answer whose storing has no answer is an error in time, and is settled once that has failed', async () => {
  const gate = Promise.withResolvers<never>()
  const late = Promise.withResolvers<Outcome>()
  const retries = { add: (_: unknown, outcome: Outcome) => late.resolve(outcome) }
  const settle = createSettle(() => gate.promise, retries, new AbortController().signal, 10, 10)
  await expect(settle(requestOf('org_acme'), complete, stores)).rejects.toMatchObject({
    code: 'response_not_stored',
  })
  gate.reject(locked)
  expect(await late.promise).toEqual({ status: 503, error: 'response_not_stored', cost: 5n })
})

test('a failure that cannot be stored does not wait', async () => {
  const failed = { status: 502, error: 'upstream_unavailable', cost: 5n }
  const { settle, attempts, late } = settleLocked(1, 60_000)
  await expect(settle(failed, stores)).rejects.toBe(locked)
  expect([attempts, late]).toEqual([[failed], [failed]])
})

test('an answer that waits to be stored is left to the retries before they are closed', async () => {
  const { settle, late, closing } = settleLocked(Infinity, 60_000)
  const settled = settle(complete, stores).catch((error: unknown) => error)
  await Bun.sleep(0)
  closing.abort()
  expect(late).toHaveLength(1)
  expect(await settled).toMatchObject({ code: 'response_not_stored' })
  expect(late).toHaveLength(1)
})

test('a permanent error is not retried, and does not block other settlements', async () => {
  const { tried, settled } = keepLate([new Error('A constraint.')], { status: 400 }, { status: 404 })
  await settled
  await Bun.sleep(20)
  expect(tried).toHaveLength(2)
})

test('at shutdown all settlements are tried immediately, for the last time', async () => {
  const { late, tried } = keepLate([locked, locked], { status: 499 }, { status: 499 })
  late.close()
  expect(tried).toHaveLength(2)
  late.add(requestOf('org_acme'), { status: 499 })
  await Bun.sleep(20)
  expect(tried).toHaveLength(2)
})
