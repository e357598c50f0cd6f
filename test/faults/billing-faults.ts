import type { Fault } from './fault.ts'

/** Money and limits that are counted wrong. */
export const billingFaults: readonly Fault[] = [
  {
    name: 'a settlement in SQLite is applied twice',
    file: 'src/storage/sqlite/ledger-statements.ts',
    original: 'if (!insertUsage(request, outcome)) return unrecorded',
    replacement: 'insertUsage(request, outcome)',
    tests: ['test/unit/storage/money.test.ts'],
  },
  {
    name: 'a settlement in PostgreSQL does not release the reservation',
    file: 'src/storage/postgres/settlement.ts',
    original: 'SET balance = balance - s.charged, reserved = reserved - s.amount',
    replacement: 'SET balance = balance - s.charged',
    tests: ['test/unit/storage/money.test.ts'],
  },
  {
    name: 'a reservation of the whole balance is rejected',
    file: 'src/storage/sqlite/reservation-statements.ts',
    original: '(prepaid && available < amount)',
    replacement: '(prepaid && available <= amount)',
    tests: ['test/unit/storage/money.test.ts'],
  },
  {
    name: 'what another process changes of a balance is not seen',
    file: 'src/storage/sqlite/amounts.ts',
    original: 'if (version !== this.#version) this.discard()',
    replacement: '',
    tests: ['test/unit/storage/amounts.test.ts'],
  },
  {
    name: 'a transaction that failed counts in memory',
    file: 'src/storage/sqlite/writer.ts',
    original: 'amounts.discard()\n    transaction.rollback()',
    replacement: 'transaction.rollback()',
    tests: ['test/unit/storage/amounts.test.ts'],
  },
  {
    name: 'a credit does not see the charges before it in its transaction',
    file: 'src/storage/sqlite/writer.ts',
    original: 'if (!job.usesAmounts) amounts.flush()',
    replacement: '',
    tests: ['test/unit/storage/amounts.test.ts'],
  },
  {
    name: 'cached tokens cost as much as others',
    file: 'src/gateway/billing/price.ts',
    original: 'product(cached, prices.cache_read ?? input)',
    replacement: 'product(cached, input)',
    tests: ['test/unit/gateway/price.test.ts'],
  },
  {
    name: 'a model with only one of its prices is free in the other direction',
    file: 'src/gateway/billing/price.ts',
    original: 'return pricing.input !== undefined && (pricing',
    replacement: 'return pricing.input !== undefined || (pricing',
    tests: ['test/api/money/service-tiers.test.ts'],
  },
  {
    name: 'a rate limit allows one request too many',
    file: 'src/lib/token-bucket.ts',
    original: 'return missing > 0 ? ceilDivide(missing, this.#limit) : 0',
    replacement: 'return missing > minuteMs ? ceilDivide(missing, this.#limit) : 0',
    tests: ['test/api/limits/rate-limits.test.ts'],
  },
  {
    name: 'a call that ends does not release its concurrency slot',
    file: 'src/gateway/rate-limits/admission.ts',
    original: 'this.#limiter.releaseSlot()\n',
    replacement: '',
    tests: ['test/api/limits/call-limits.test.ts'],
  },
]
