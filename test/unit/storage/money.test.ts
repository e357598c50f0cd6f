import { Database as Sqlite } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { completionId } from '../../support/completion-id.ts'
import { maxRecovered } from '../../../src/storage/sqlite/billing/ledger.ts'
import {
  countOf,
  entriesOf,
  expectConsistentLedger,
  fundedStorage,
  requestOf,
} from './support/ledger-fixture.ts'

const nothing = { charged: 0n }

test('of 500 concurrent reservations exactly those succeed that the balance covers', async () => {
  const { database, ledger, reservation, account } = await fundedStorage(1_000n)
  const made = await Promise.all(Array.from({ length: 500 }, () => ledger.reserve(reservation(7n))))
  expect(made.filter(Boolean)).toHaveLength(142)
  expect(await account()).toEqual([1_000n, 994n])
  expect(await ledger.reserve(reservation(7n))).toBe(false)
  expect(await ledger.reserve(reservation(6n))).toBe(true)
  expectConsistentLedger(database.sqlite)
})

test('nothing can be reserved for an organization that does not exist', async () => {
  const { database, ledger, reservation } = await fundedStorage(100n)
  expect(await ledger.reserve(reservation(0n, requestOf('org_nobody')))).toBe(false)
  expect(await ledger.reserve(reservation(10n ** 30n))).toBe(false)
  expect(countOf(database.sqlite, 'reservations')).toBe(0)
})

test.each([
  { cost: undefined, balance: 100n, entries: [] },
  { cost: 0n, balance: 100n, entries: [] },
  { cost: -5n, balance: 100n, entries: [] },
  { cost: 1n, balance: 99n, entries: [['charge', -1]] },
  { cost: 40n, balance: 60n, entries: [['charge', -40]] },
  { cost: 70n, balance: 30n, entries: [['charge', -70]] },
  { cost: 95n, balance: 5n, entries: [['charge', -95]] },
  { cost: 250n, balance: -150n, entries: [['charge', -250]] },
  {
    cost: 10n ** 40n,
    balance: 100n - BigInt(Number.MAX_SAFE_INTEGER),
    entries: [['charge', -Number.MAX_SAFE_INTEGER]],
  },
])(
  'a request with 40 of 100 reserved, and 10 for another call, is charged its cost: $cost',
  async (input) => {
    const { database, ledger, reservation, account } = await fundedStorage(100n)
    const { request } = reservation(40n)
    await Promise.all([ledger.reserve(reservation(10n)), ledger.reserve(reservation(40n, request))])
    const settled = await ledger.settle(request, { status: 200, cost: input.cost })
    expect(settled).toEqual({ recorded: true, charged: 100n - input.balance })
    expect(await account()).toEqual([input.balance, 10n])
    expect(entriesOf(database.sqlite)).toEqual([['credit', 100], ...input.entries])
    expectConsistentLedger(database.sqlite)
  },
)

test('below zero nothing can be reserved, not even zero, until a credit raises the balance', async () => {
  const { database, ledger, organizations, reservation, account } = await fundedStorage(100n)
  const { request } = reservation(40n)
  await Promise.all([ledger.reserve(reservation(10n)), ledger.reserve(reservation(40n, request))])
  await ledger.settle(request, { status: 200, cost: 180n })
  expect(await account()).toEqual([-80n, 10n])
  expect(await ledger.reserve(reservation(0n))).toBe(false)
  await expect(organizations.credit('acme', -1n)).rejects.toThrow('The balance of acme is -0.00000008 USD')
  await organizations.credit('acme', 85n)
  expect(await ledger.reserve(reservation(0n))).toBe(false)
  await organizations.credit('acme', 6n)
  expect(await account()).toEqual([11n, 10n])
  expect(await ledger.reserve(reservation(1n))).toBe(true)
  expect(await ledger.reserve(reservation(1n))).toBe(false)
  expectConsistentLedger(database.sqlite)
})

test('only the first settlement of a request counts, also of several concurrent ones', async () => {
  const { database, ledger, reservation, account } = await fundedStorage(100n)
  const { request } = reservation(50n)
  await ledger.reserve(reservation(50n, request))
  const [first, ...others] = await Promise.all(
    [20n, 30n, 40n].map((cost) => ledger.settle(request, { status: 200, cost })),
  )
  expect(first).toEqual({ recorded: true, charged: 20n })
  for (const other of others) expect(other).toEqual({ recorded: false, ...nothing })
  expect(await account()).toEqual([80n, 0n])
  expect(countOf(database.sqlite, 'usage')).toBe(1)
  expectConsistentLedger(database.sqlite)
})

test('a request without a reservation is counted and not charged', async () => {
  const { database, ledger, request, account } = await fundedStorage(100n)
  expect(await ledger.settle(request(), { status: 200, cost: 30n })).toEqual({ recorded: true, ...nothing })
  expect(await account()).toEqual([100n, 0n])
  expect(database.sqlite.prepare('SELECT cost FROM usage').values()).toEqual([[30]])
  expect(entriesOf(database.sqlite)).toEqual([['credit', 100]])
})

test('a request whose organization was deleted meanwhile ends without a trace', async () => {
  const { database, ledger, reservation, organizations } = await fundedStorage(100n)
  const open = reservation(50n)
  await ledger.reserve(open)
  await ledger.settle(reservation(0n).request, { status: 200 })
  await organizations.delete('acme')
  expect(await ledger.settle(open.request, { status: 200, cost: 5n })).toEqual({
    recorded: false,
    ...nothing,
  })
  expect(await ledger.recover()).toBe(0)
  for (const table of ['usage', 'ledger', 'reservations'] as const)
    expect([table, countOf(database.sqlite, table)]).toEqual([table, 0])
})

test('the writes of a settlement are committed with it, or neither is', async () => {
  const { database, ledger, reservation, account } = await fundedStorage(100n)
  const { sqlite } = database
  const { request } = reservation(50n)
  await ledger.reserve(reservation(50n, request))
  const completion = {
    id: completionId(Date.now()),
    organization: request.organization,
    model: 'acme/river',
    metadata: {},
    completion: {},
    messages: [],
  }
  const write = { kind: 'insert-completion', completion } as const
  const invalid = { ...write, completion: { ...completion, id: 'invalid' } }
  const broken = ledger.settle(request, { status: 200, cost: 5n }, { writes: [write, invalid] })
  await expect(broken).rejects.toThrow('The id of a completion to store has no sequence.')
  expect(await account()).toEqual([100n, 50n])
  await ledger.settle(request, { status: 200, cost: 5n }, { writes: [write] })
  await ledger.settle(request, { status: 200, cost: 5n }, { writes: [write] })
  expect(sqlite.prepare('SELECT id FROM completions').values()).toEqual([[completion.id]])
  expect(await account()).toEqual([95n, 0n])
  expectConsistentLedger(sqlite)
})

test('reservations that are open when the process dies are charged for their prompts at the next start, with a note', async () => {
  const { database, ledger, reservation, account } = await fundedStorage(10n ** 9n)
  const count = 2 * maxRecovered + 3
  await Promise.all(Array.from({ length: count }, () => ledger.reserve(reservation(1_000n))))
  expect(await ledger.recover()).toBe(count)
  expect(await ledger.recover()).toBe(0)
  expect(await account()).toEqual([10n ** 9n - 100n * BigInt(count), 0n])
  const rows = database.sqlite.prepare(
    'SELECT prompt_tokens, completion_tokens, estimated, cost, latency_ms, status, error, count(*) FROM usage',
  )
  expect(rows.values()).toEqual([[7, 0, 1, 100, null, 0, 'interrupted', count]])
  expectConsistentLedger(database.sqlite)
})

test('a recovery leaves the amounts and requests of reservations unchanged', async () => {
  const { database, ledger, reservation, request } = await fundedStorage(1_000n)
  const facts = { ...request(), model: 'a/b', stream: true, user: 'u', tags: ['x', 'y'], trace: { id: 't' } }
  await ledger.reserve(reservation(500n, { ...facts, performanceMode: 'fast', createdAt: 12345 }))
  await ledger.recover()
  const row = database.sqlite.prepare('SELECT * FROM usage').get()
  expect(row).toMatchObject({
    id: facts.id,
    organization_id: facts.organization,
    key_id: facts.key,
    created_at: 12345,
    api: 'chat',
    model: 'a/b',
    provider: null,
    stream: 1,
    performance_mode: 'fast',
    user: 'u',
    tags: '["x","y"]',
    trace: '{"id":"t"}',
  })
})

test('a credit is exact, and a correction takes nothing that is reserved', async () => {
  const { database, ledger, organizations, reservation, account } = await fundedStorage(0n)
  await organizations.credit('acme', 5_000_000_000_000_001n, 'invoice 7')
  await ledger.reserve(reservation(5_000_000_000_000_000n))
  await expect(organizations.credit('acme', -2n)).rejects.toThrow(
    'The balance of acme is 5000000.000000001 USD, of which 5000000.00 USD are reserved by open requests. No more than what is available',
  )
  await expect(organizations.credit('acme', 0n)).rejects.toThrow('must not be zero')
  await expect(organizations.credit('acme', 10n ** 16n)).rejects.toThrow('at most 9007199.254740991 USD')
  await expect(organizations.credit('nobody', 1n)).rejects.toThrow('There is no organization')
  expect((await organizations.credit('acme', -1n)).balance).toBe(5_000_000_000_000_000n)
  expect(await account()).toEqual([5_000_000_000_000_000n, 5_000_000_000_000_000n])
  expect(database.sqlite.prepare('SELECT amount, note FROM ledger ORDER BY id').values()).toEqual([
    [5_000_000_000_000_001, 'invoice 7'],
    [-1, null],
  ])
  expectConsistentLedger(database.sqlite)
})

test('while the database is locked nothing is reserved or settled, and afterwards it can be', async () => {
  const { database, writer, ledger, reservation, account } = await fundedStorage(100n)
  const { request } = reservation(50n)
  await ledger.reserve(reservation(50n, request))
  database.sqlite.run('PRAGMA busy_timeout = 0')
  const other = new Sqlite(database.file)
  other.run('BEGIN IMMEDIATE')
  const failures = await Promise.allSettled([
    ledger.reserve(reservation(50n)),
    ledger.settle(request, { status: 200, cost: 5n }),
  ])
  for (const { reason } of failures as PromiseRejectedResult[]) expect(reason).toMatchObject({ status: 503 })
  other.close()
  expect(await account()).toEqual([100n, 50n])
  expect((await ledger.settle(request, { status: 200, cost: 5n })).recorded).toBe(true)
  // The one that failed comes too late.
  ledger.close()
  await writer.write(() => {})
  expect(await account()).toEqual([95n, 0n])
  expect(database.sqlite.prepare('SELECT status, cost FROM usage').values()).toEqual([[200, 5]])
  expectConsistentLedger(database.sqlite)
})
