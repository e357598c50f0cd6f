import { expect, test } from 'bun:test'
import { serviceUnavailable } from '../../../src/lib/errors/errors.ts'
import { createSettlementRetries, failedOutcome } from '../../../src/storage/common/settlement-retries.ts'
import type { Outcome } from '../../../src/domain/accounting/outcome.ts'
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

test('a client whose reply was withheld received a 503, unless the request had failed anyway', () => {
  const withheld = failedOutcome({ status: 200, cost: 5n })
  expect(withheld).toEqual({ status: 503, error: 'service_unavailable', cost: 5n })
  const failed = { status: 502, error: 'upstream_unavailable', cost: 5n }
  expect(failedOutcome(failed)).toEqual(failed)
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
