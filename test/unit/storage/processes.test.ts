import { expect, test } from 'bun:test'
import { ownOsProcess } from '../../../src/storage/common/os-process.ts'
import { expectConsistent, requestOf } from './support/ledger-fixture.ts'
import { testSharedStores, valuesOf } from './support/stores.ts'

testSharedStores((open) => {
  test('a process that has entered is in the list, with the number of its beats', async () => {
    const { shared } = await open()
    const { processes } = shared
    const osProcess = ownOsProcess() ?? null
    expect(await processes.list()).toEqual([{ id: shared.process.id(), beat: 0, osProcess }])
    await processes.enter('other')
    expect(await processes.beat('other')).toBe(true)
    expect(await processes.beat('other')).toBe(true)
    expect(await processes.list()).toContainEqual({ id: 'other', beat: 2, osProcess: null })
  })

  test('a process that enters twice keeps its count', async () => {
    const { processes } = (await open()).shared
    await processes.enter('other')
    await processes.beat('other')
    await processes.enter('other')
    expect(await processes.list()).toContainEqual(expect.objectContaining({ id: 'other', beat: 1 }))
  })

  test('only a process whose count has not changed is removed, and only once', async () => {
    const { processes } = (await open()).shared
    await processes.enter('other')
    await processes.beat('other')
    expect(await processes.remove({ id: 'other', beat: 0 })).toBe(false)
    expect(await processes.remove({ id: 'other', beat: 1 })).toBe(true)
    expect(await processes.remove({ id: 'other', beat: 1 })).toBe(false)
    expect(await processes.list()).toHaveLength(1)
  })

  test('a process that was removed cannot beat, until it enters again', async () => {
    const { processes } = (await open()).shared
    await processes.enter('other')
    await processes.remove({ id: 'other', beat: 0 })
    expect(await processes.beat('other')).toBe(false)
    await processes.enter('other')
    expect(await processes.beat('other')).toBe(true)
  })

  test.each(['is removed', 'leaves'])(
    'a process that %s has no slots any more, and the others keep theirs',
    async (end) => {
      const store = await open()
      const { processes } = store.shared
      const { id } = await store.organizations.create('acme')
      await processes.enter('other')
      await store.rows(
        `INSERT INTO slot_leases (organization_id, kind, process_id, held)
      VALUES ('${id}', 'concurrent', 'other', 3), ('${id}', 'queued', 'other', 2), ('${id}', 'concurrent', 'third', 1)`,
      )
      if (end === 'leaves') await processes.leave('other')
      else await processes.remove({ id: 'other', beat: 0 })
      expect(await valuesOf(store, 'SELECT process_id, held FROM slot_leases')).toEqual([['third', 1]])
    },
  )

  test('a process that was removed cannot reserve, and what it has reserved is settled by the others', async () => {
    const store = await open()
    const { ledger, shared, organizations } = store
    const { id } = await organizations.create('acme')
    await organizations.credit('acme', 1000n)
    const reserve = () =>
      ledger.reserve({ request: requestOf(id), amount: 100n, promptCost: 10n, promptTokens: 1 })
    expect(await reserve()).toBe(true)
    expect(await ledger.recover()).toBe(0)
    await shared.processes.remove({ id: shared.process.id(), beat: 0 })
    await expect(reserve()).rejects.toMatchObject({ status: 503 })
    expect(await valuesOf(store, 'SELECT process_id FROM reservations')).toEqual([[shared.process.id()]])
    await shared.processes.enter(shared.process.renew())
    expect(await reserve()).toBe(true)
    expect(await ledger.recover()).toBe(1)
    expect((await organizations.find('acme'))?.balance).toBe(990n)
    expect((await organizations.find('acme'))?.reserved).toBe(100n)
    await expectConsistent(store)
  })
})
