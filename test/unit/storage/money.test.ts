import { isReserved } from '../../support/is-reserved.ts'
import { expect, test } from 'bun:test'
import { completionId } from '../../support/completion-id.ts'
import { maxRecovered } from '../../../src/storage/common/recovery.ts'
import { countOf, entriesOf, expectConsistent, fundedStore, requestOf } from './support/ledger-fixture.ts'
import { testStores, valuesOf } from './support/stores.ts'

const nothing = { charged: 0n }

testStores((open) => {
  test('of 500 concurrent reservations exactly those succeed that the balance covers', async () => {
    const { store, ledger, reservation, account } = await fundedStore(open, 1_000n)
    const made = await Promise.all(Array.from({ length: 500 }, () => isReserved(ledger, reservation(7n))))
    expect(made.filter(Boolean)).toHaveLength(142)
    expect(await account()).toEqual([1_000n, 994n])
    expect(await isReserved(ledger, reservation(7n))).toBe(false)
    expect(await isReserved(ledger, reservation(6n))).toBe(true)
    await expectConsistent(store)
  })

  test('nothing can be reserved for an organization that does not exist', async () => {
    const { store, ledger, reservation } = await fundedStore(open, 100n)
    expect(await isReserved(ledger, reservation(0n, requestOf('org_nobody')))).toBe(false)
    expect(await isReserved(ledger, reservation(10n ** 30n))).toBe(false)
    expect(await countOf(store, 'reservations')).toBe(0)
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
      const { store, ledger, reservation, account } = await fundedStore(open, 100n)
      const { request } = reservation(40n)
      await Promise.all([ledger.reserve(reservation(10n)), ledger.reserve(reservation(40n, request))])
      const settled = await ledger.settle(request, { status: 200, cost: input.cost })
      expect(settled).toEqual({ recorded: true, charged: 100n - input.balance })
      expect(await account()).toEqual([input.balance, 10n])
      expect(await entriesOf(store)).toEqual([['credit', 100], ...input.entries.map((entry) => [...entry])])
      await expectConsistent(store)
    },
  )

  test('a charge that the balance cannot hold is cut to the lowest balance', async () => {
    const { store, ledger, reservation, account } = await fundedStore(open, 100n)
    const first = reservation(40n)
    const second = reservation(10n)
    await Promise.all([ledger.reserve(first), ledger.reserve(second)])
    const lowest = -BigInt(Number.MAX_SAFE_INTEGER)
    await ledger.settle(first.request, { status: 200, cost: 10n ** 40n })
    const settled = await ledger.settle(second.request, { status: 200, cost: 10n ** 40n })
    expect(settled).toEqual({ recorded: true, charged: 100n })
    expect(await account()).toEqual([lowest, 0n])
    await expectConsistent(store)
  })

  test('below zero nothing can be reserved, not even zero, until a credit raises the balance', async () => {
    const { store, ledger, organizations, reservation, account } = await fundedStore(open, 100n)
    const { request } = reservation(40n)
    await Promise.all([ledger.reserve(reservation(10n)), ledger.reserve(reservation(40n, request))])
    await ledger.settle(request, { status: 200, cost: 180n })
    expect(await account()).toEqual([-80n, 10n])
    expect(await isReserved(ledger, reservation(0n))).toBe(false)
    await expect(organizations.credit('acme', -1n)).rejects.toThrow('The balance of acme is -0.00000008 USD')
    await organizations.credit('acme', 85n)
    expect(await isReserved(ledger, reservation(0n))).toBe(false)
    await organizations.credit('acme', 6n)
    expect(await account()).toEqual([11n, 10n])
    expect(await isReserved(ledger, reservation(1n))).toBe(true)
    expect(await isReserved(ledger, reservation(1n))).toBe(false)
    await expectConsistent(store)
  })

  test('only the first settlement of a request counts, also of several concurrent ones', async () => {
    const { store, ledger, reservation, account } = await fundedStore(open, 100n)
    const { request } = reservation(50n)
    await ledger.reserve(reservation(50n, request))
    const [first, ...others] = await Promise.all(
      [20n, 30n, 40n].map((cost) => ledger.settle(request, { status: 200, cost })),
    )
    expect(first).toEqual({ recorded: true, charged: 20n })
    for (const other of others) expect(other).toEqual({ recorded: false, ...nothing })
    expect(await account()).toEqual([80n, 0n])
    expect(await countOf(store, 'usage')).toBe(1)
    await expectConsistent(store)
  })

  test('a request without a reservation is counted and not charged', async () => {
    const { store, ledger, request, account } = await fundedStore(open, 100n)
    expect(await ledger.settle(request(), { status: 200, cost: 30n })).toEqual({ recorded: true, ...nothing })
    expect(await account()).toEqual([100n, 0n])
    expect(await valuesOf(store, 'SELECT cost FROM usage')).toEqual([[30]])
    expect(await entriesOf(store)).toEqual([['credit', 100]])
  })

  test('a request whose organization was deleted meanwhile ends without a trace', async () => {
    const { store, ledger, reservation, organizations } = await fundedStore(open, 100n)
    const pending = reservation(50n)
    await ledger.reserve(pending)
    await ledger.settle(reservation(0n).request, { status: 200 })
    await organizations.delete('acme')
    expect(await ledger.settle(pending.request, { status: 200, cost: 5n })).toEqual({
      recorded: false,
      ...nothing,
    })
    expect(await ledger.recover()).toBe(0)
    for (const table of ['usage', 'ledger', 'reservations'] as const)
      expect([table, await countOf(store, table)]).toEqual([table, 0])
  })

  test('the writes of a settlement are committed with it, or neither is', async () => {
    const { store, ledger, reservation, account } = await fundedStore(open, 100n)
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
    await expect(broken).rejects.toMatchObject({
      code: 'response_not_stored',
      cause: { message: 'The id of a completion to store has no sequence.' },
    })
    expect(await account()).toEqual([100n, 50n])
    await ledger.settle(request, { status: 200, cost: 5n }, { writes: [write] })
    await ledger.settle(request, { status: 200, cost: 5n }, { writes: [write] })
    expect(await valuesOf(store, 'SELECT id FROM completions')).toEqual([[completion.id]])
    expect(await account()).toEqual([95n, 0n])
    await expectConsistent(store)
  })

  test('reservations that are open when the process dies are charged for their prompts at the next start, with a note', async () => {
    const { store, ledger, reservation, account } = await fundedStore(open, 10n ** 9n)
    const count = 2 * maxRecovered + 3
    await Promise.all(Array.from({ length: count }, () => ledger.reserve(reservation(1_000n))))
    await store.leaveOpen()
    expect(await ledger.recover()).toBe(count)
    expect(await ledger.recover()).toBe(0)
    expect(await account()).toEqual([10n ** 9n - 100n * BigInt(count), 0n])
    const columns = 'prompt_tokens, completion_tokens, estimated, cost, latency_ms, status, error'
    const rows = await valuesOf(store, `SELECT ${columns}, count(*) FROM usage GROUP BY ${columns}`)
    expect(rows).toEqual([[7, 0, 1, 100, null, 0, 'interrupted', count]])
    await expectConsistent(store)
  })

  test('a recovery leaves the amounts and requests of reservations unchanged', async () => {
    const { store, ledger, reservation, request } = await fundedStore(open, 1_000n)
    const facts = {
      ...request(),
      model: 'a/b',
      stream: true,
      user: 'u',
      tags: ['x', 'y'],
      trace: { id: 't' },
    }
    await ledger.reserve(reservation(500n, { ...facts, performanceMode: 'fast', createdAt: 12345 }))
    await store.leaveOpen()
    await ledger.recover()
    const [row] = await store.rows('SELECT * FROM usage')
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
    const { store, ledger, organizations, reservation, account } = await fundedStore(open, 0n)
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
    expect(await valuesOf(store, 'SELECT amount, note FROM ledger ORDER BY id')).toEqual([
      [5_000_000_000_000_001, 'invoice 7'],
      [-1, null],
    ])
    await expectConsistent(store)
  })
})
