import { isReserved } from '../../support/is-reserved.ts'
import { expect, test } from 'bun:test'
import { ownOsProcess } from '../../../src/storage/postgres/cluster/os-process.ts'
import { expectConsistent, requestOf } from './support/ledger-fixture.ts'
import { testSharedStores, valuesOf } from './support/stores.ts'

testSharedStores((open) => {
  test('a process that is registered is in the list, with the number of its heartbeats', async () => {
    const { shared } = await open()
    const { processes } = shared
    const osProcess = ownOsProcess() ?? null
    expect(await processes.list()).toEqual([{ id: shared.process.id(), beat: 0, osProcess }])
    await processes.register('other')
    expect(await processes.heartbeat('other')).toBe(true)
    expect(await processes.heartbeat('other')).toBe(true)
    expect(await processes.list()).toContainEqual({ id: 'other', beat: 2, osProcess: null })
  })

  test('a process that registers twice keeps its count', async () => {
    const { processes } = (await open()).shared
    await processes.register('other')
    await processes.heartbeat('other')
    await processes.register('other')
    expect(await processes.list()).toContainEqual(expect.objectContaining({ id: 'other', beat: 1 }))
  })

  test('only a process whose count has not changed is evicted, and only once', async () => {
    const { processes } = (await open()).shared
    await processes.register('other')
    await processes.heartbeat('other')
    expect(await processes.evict({ id: 'other', beat: 0 })).toBe(false)
    expect(await processes.evict({ id: 'other', beat: 1 })).toBe(true)
    expect(await processes.evict({ id: 'other', beat: 1 })).toBe(false)
    expect(await processes.list()).toHaveLength(1)
  })

  test('a process that was evicted sends no heartbeat, until it registers again', async () => {
    const { processes } = (await open()).shared
    await processes.register('other')
    await processes.evict({ id: 'other', beat: 0 })
    expect(await processes.heartbeat('other')).toBe(false)
    await processes.register('other')
    expect(await processes.heartbeat('other')).toBe(true)
  })

  test.each(['is evicted', 'leaves'])(
    'a process that %s has no slots any more, and the others keep theirs',
    async (end) => {
      const store = await open()
      const { processes } = store.shared
      const { id } = await store.organizations.create('acme')
      await processes.register('other')
      await store.rows(
        `INSERT INTO slot_leases (organization_id, kind, process_id, held)
      VALUES ('${id}', 'concurrent', 'other', 3), ('${id}', 'queued', 'other', 2), ('${id}', 'concurrent', 'third', 1)`,
      )
      if (end === 'leaves') await processes.deregister('other')
      else await processes.evict({ id: 'other', beat: 0 })
      expect(await valuesOf(store, 'SELECT process_id, held FROM slot_leases')).toEqual([['third', 1]])
    },
  )

  test('a process that was evicted cannot reserve, and what it has reserved is settled by the others', async () => {
    const store = await open()
    const { ledger, shared, organizations } = store
    const { id } = await organizations.create('acme')
    await organizations.credit('acme', 1000n)
    const reserve = () =>
      isReserved(ledger, { request: requestOf(id), amount: 100n, promptCost: 10n, promptTokens: 1 })
    expect(await reserve()).toBe(true)
    expect(await ledger.recover()).toBe(0)
    await shared.processes.evict({ id: shared.process.id(), beat: 0 })
    await expect(reserve()).rejects.toMatchObject({ status: 503 })
    expect(await valuesOf(store, 'SELECT process_id FROM reservations')).toEqual([[shared.process.id()]])
    await shared.processes.register(shared.process.renew())
    expect(await reserve()).toBe(true)
    expect(await ledger.recover()).toBe(1)
    expect((await organizations.find('acme'))?.balance).toBe(990n)
    expect((await organizations.find('acme'))?.reserved).toBe(100n)
    await expectConsistent(store)
  })
})
