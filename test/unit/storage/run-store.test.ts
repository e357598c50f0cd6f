import { expect, test } from 'bun:test'
import { claimsStore, idsOf } from './support/claims-fixture.ts'
import { unfinished } from './support/response-fixture.ts'
import { testSharedStores } from './support/stores.ts'

testSharedStores((open) => {
  test('a queued run is claimed by one of the processes that want it, and lost by its owner', async () => {
    const { runs, queued, ownerOf } = await claimsStore(open)
    const run = await queued('p1')
    expect(await runs.claimQueued('p1', 10, [])).toEqual([])
    const claims = await Promise.all(
      ['p2', 'p3', 'p4', 'p5'].map((process) => runs.claimQueued(process, 10, [])),
    )
    // A claim may lose the run to the next one before it starts, but never share it.
    expect(claims.flat().length).toBeGreaterThanOrEqual(1)
    const owner = String(await ownerOf(run))
    for (const process of ['p1', 'p2', 'p3', 'p4', 'p5'])
      expect(idsOf(await runs.owned(process))).toEqual(process === owner ? [run.id] : [])
  })

  test('claims take no more runs than they asked for, and organizations take turns', async () => {
    const { runs, queued, other } = await claimsStore(open)
    const [first, second, third] = [await queued('p1'), await queued('p1'), await queued('p1')]
    const others = [await queued('p1', other), await queued('p1', other)]
    expect(idsOf(await runs.claimQueued('p2', 3, []))).toEqual(idsOf([first, others[0]!, second]))
    expect(idsOf(await runs.claimQueued('p2', 3, [other]))).toEqual([third.id])
    expect(idsOf(await runs.owned('p1'))).toEqual([others[1]!.id])
  })

  test('only the owner of a run starts it, and may repeat that', async () => {
    const { runs, queued, responses, acme } = await claimsStore(open)
    const run = await queued('p1')
    expect(await runs.start('p2', run)).toBe(false)
    expect(await runs.start('p1', { ...run, organization: 'org_unknown' })).toBe(false)
    expect([await runs.start('p1', run), await runs.start('p1', run)]).toEqual([true, true])
    expect(await responses.find(acme, run.id)).toMatchObject({ status: 'in_progress' })
    expect(await runs.claimQueued('p2', 10, [])).toEqual([])
    expect(await runs.owned('p1')).toEqual([{ ...run, status: 'in_progress' }])
  })

  test('a process that was evicted starts none of its runs', async () => {
    const { runs, queued, removeProcess } = await claimsStore(open)
    const run = await queued('p1')
    await removeProcess('p1')
    expect(await runs.start('p1', run)).toBe(false)
  })

  test('a run is started by its owner or claimed by another process, whatever the order', async () => {
    const { runs, queued } = await claimsStore(open)
    for (let round = 0; round < 20; round++) {
      const run = await queued('p1')
      const [started, claimed] = await Promise.all([runs.start('p1', run), runs.claimQueued('p2', 10, [])])
      expect(Number(started) + claimed.length).toBe(1)
      expect(await runs.start('p2', run)).toBe(!started)
    }
  })

  test('unfinished runs of evicted processes are claimed once, with their reservations', async () => {
    const { runs, reserved, started, queued, enter, removeProcess, settlerOf } = await claimsStore(open)
    await enter('p3')
    const [{ request, ...waiting }, running] = [await reserved('p1'), await started('p1')]
    const own = [await queued('p2'), await started('p2')]
    expect(await runs.claimAbandoned('p3', 10)).toEqual([])
    await removeProcess('p1')
    const claims = await Promise.all(['p2', 'p3'].map((process) => runs.claimAbandoned(process, 10)))
    expect(claims.flat()).toEqual([
      { ...waiting, status: 'queued' },
      { ...running, status: 'in_progress' },
    ])
    const owner = claims[0]?.length ? 'p2' : 'p3'
    expect(await settlerOf(request)).toBe(owner)
    expect(await runs.owned('p1')).toEqual([])
    const left = new Set(idsOf(owner === 'p2' ? [waiting, running, ...own] : own))
    expect(new Set(idsOf(await runs.owned('p2')))).toEqual(left)
  })

  test('a run that a evicted process has started is not started again, also not by the one whose queue has it', async () => {
    const { runs, queued, removeProcess } = await claimsStore(open)
    const [run, waiting] = [await queued('p1'), await queued('p1')]
    expect(idsOf(await runs.claimQueued('p2', 10, []))).toEqual(idsOf([run, waiting]))
    expect(await runs.start('p2', run)).toBe(true)
    await removeProcess('p2')
    expect(idsOf(await runs.claimAbandoned('p1', 10))).toEqual(idsOf([run, waiting]))
    expect([await runs.start('p1', run), await runs.start('p1', waiting)]).toEqual([false, true])
    expect(await runs.read('p1', [run])).toMatchObject([{ id: run.id, status: 'in_progress' }])
  })

  test('unfinished runs of a evicted process are claimed once, whatever the order of the claims', async () => {
    const { runs, queued, enter, removeProcess } = await claimsStore(open)
    const claimants = ['p2', 'p3', 'p4', 'p5']
    for (const process of claimants.slice(1)) await enter(process)
    for (let round = 0; round < 20; round++) {
      const gone = `gone-${round}`
      await enter(gone)
      const left = [await queued(gone), await queued(gone)]
      await removeProcess(gone)
      const claims = await Promise.all(claimants.map((process) => runs.claimAbandoned(process, 10)))
      expect(new Set(idsOf(claims.flat()))).toEqual(new Set(idsOf(left)))
      expect(claims.flat()).toHaveLength(left.length)
    }
  })

  test('only the owner of a run leaves its reservation, which is settled once the run has ended', async () => {
    const { runs, reserved, end, store, settlerOf } = await claimsStore(open)
    const { request, ...run } = await reserved('p1')
    await runs.leaveReservation('p2', run)
    expect(await settlerOf(request)).toBe('p1')
    await runs.leaveReservation('p1', run)
    expect(await settlerOf(request)).toBe('')
    expect(await store.ledger.recover()).toBe(0)
    await end(run)
    expect(await store.ledger.recover()).toBe(1)
    expect((await store.organizations.find('acme'))?.reserved).toBe(0n)
  })

  test('unfinished runs without an owner, as a copy of a SQLite database may have them, are claimed by the first claim of a process', async () => {
    const { runs, insert, acme, answered, queued, settlerOf, reserved, store } = await claimsStore(open)
    await answered()
    const owned = await queued('p1')
    const { request, ...run } = await reserved('gone')
    const order = JSON.stringify({ facts: { id: request }, promptTokens: 1 })
    await store.rows(`UPDATE responses SET run = '${order}' WHERE id = '${run.id}'`)
    await store.rows(`DELETE FROM runs WHERE response_id = '${run.id}'`)
    const damaged = { ...unfinished(acme, 'in_progress') }
    await insert(damaged)
    await store.rows(`UPDATE responses SET run = '{' WHERE id = '${damaged.id}'`)
    await store.rows(`DELETE FROM runs WHERE response_id = '${damaged.id}'`)
    expect(idsOf(await runs.claimAbandoned('p2', 10))).toEqual([run.id, damaged.id])
    expect(await settlerOf(request)).toBe('p2')
    expect(idsOf(await runs.owned('p1'))).toEqual([owned.id])
  })

  test('a process reads the runs that it owns, and no others', async () => {
    const { runs, queued, started, append } = await claimsStore(open)
    const [waiting, running, foreign] = [await queued('p1'), await started('p1'), await queued('p2')]
    await append('p1', running, 0)
    await runs.requestCancel(waiting)
    expect(await runs.read('p1', [waiting, running, foreign])).toMatchObject([
      { ...waiting, status: 'queued', log: '["created"]\n', cancelRequested: true },
      { ...running, status: 'in_progress', log: '["created"]\n[0]\n', cancelRequested: false },
    ])
  })

  test('a withdrawn run is not started, and not claimed until its process is evicted', async () => {
    const { runs, reserved, removeProcess, ownerOf, settlerOf } = await claimsStore(open)
    const { request, ...run } = await reserved('p1')
    expect(await runs.withdraw('p2', { ...run, organization: 'org_unknown' })).toBe(false)
    expect([await runs.withdraw('p2', run), await runs.withdraw('p1', run)]).toEqual([true, false])
    expect(await runs.withdraw('p2', run)).toBe(true)
    expect([await ownerOf(run), await settlerOf(request)]).toEqual(['p2', 'p2'])
    expect([await runs.start('p1', run), await runs.start('p2', run)]).toEqual([false, false])
    expect(await runs.claimQueued('p1', 10, [])).toEqual([])
    await removeProcess('p2')
    expect(await runs.claimAbandoned('p1', 10)).toEqual([{ ...run, status: 'queued' }])
    expect(await runs.read('p1', [run])).toMatchObject([{ cancelRequested: true }])
  })

  test('a run that has started, or has ended, is not withdrawn', async () => {
    const { runs, queued, started, end } = await claimsStore(open)
    const [running, ended] = [await started('p1'), await queued('p1')]
    await end(ended)
    for (const run of [running, ended]) expect(await runs.withdraw('p2', run)).toBe(false)
  })

  test('a request to cancel reaches the owner', async () => {
    const { runs, started } = await claimsStore(open)
    const [run, other] = [await started('p1'), await started('p1')]
    expect(await runs.owned('p1', 'cancel-requested')).toEqual([])
    await runs.requestCancel({ ...run, organization: 'org_unknown' })
    expect(await runs.owned('p1', 'cancel-requested')).toEqual([])
    await runs.requestCancel(run)
    expect(await runs.owned('p1', 'cancel-requested')).toEqual([{ ...run, status: 'in_progress' }])
    expect(idsOf(await runs.owned('p2', 'cancel-requested'))).toEqual([])
    expect(idsOf(await runs.owned('p1')).toSorted()).toEqual(idsOf([run, other]).toSorted())
  })

  test('only the owner of a run in progress appends to its log, and may repeat a piece', async () => {
    const { runs, queued, started, append, end, responses, acme, pieces } = await claimsStore(open)
    const [run, waiting, ended] = [await started('p1'), await queued('p1'), await started('p1')]
    await end(ended)
    const all = [run, waiting, ended].map((key) => ({ ...key, position: 0, entries: '[0]\n' }))
    expect(await runs.append('p2', all)).toEqual([])
    expect(await runs.append('p1', all)).toEqual([run])
    expect(await append('p1', run, 0)).toEqual([run])
    expect(await append('p1', run, 1)).toEqual([run])
    expect(await responses.find(acme, run.id)).toMatchObject({ log: '["created"]\n[0]\n[1]\n', pieces: 2 })
    expect(await pieces()).toEqual([run.id, run.id])
  })

  test('progress has the pieces from a position on, until the run has ended', async () => {
    const { runs, queued, started, append, end, other } = await claimsStore(open)
    const [run, waiting] = [await started('p1'), await queued('p2')]
    for (const position of [0, 1, 2]) await append('p1', run, position)
    const read = (position: number) =>
      runs.progress([
        { ...run, position },
        { ...waiting, position: 0 },
        { ...run, organization: other, position },
        { ...run, id: 'resp_unknown', position },
      ])
    const queuedState = { ...waiting, status: 'queued' as const, pieces: [] }
    expect(new Set(await read(1))).toEqual(
      new Set([{ ...run, status: 'in_progress', pieces: ['[1]\n', '[2]\n'] }, queuedState]),
    )
    expect((await read(3)).find(({ id }) => id === run.id)).toMatchObject({ pieces: [] })
    await end(run)
    const ended = { ...run, status: 'completed' as const, pieces: [] }
    expect(new Set(await read(0))).toEqual(new Set([ended, queuedState]))
  })

  test('the end of a run leaves no piece of its log, also one that is appended at the same moment', async () => {
    const { started, append, end, pieces } = await claimsStore(open)
    for (let round = 0; round < 50; round++) {
      const run = await started('p1')
      await Promise.all([append('p1', run, 0), append('p1', run, 1), end(run)])
    }
    expect(await pieces()).toEqual([])
  })

  test('a run that ends while a process looks for runs without an owner gets none', async () => {
    const { store, started, end } = await claimsStore(open)
    for (let round = 0; round < 20; round++) {
      const ending = await Promise.all(Array.from({ length: 10 }, () => started('p1')))
      await Promise.all([...ending.map(end), ...ending.map(() => store.otherRuns().claimAbandoned('p2', 1))])
    }
    expect(await store.rows('SELECT response_id FROM runs')).toEqual([])
  })

  test('the queued runs of an organization are counted across processes', async () => {
    const { runs, queued, started, acme, other } = await claimsStore(open)
    await queued('p1')
    await queued('p2')
    await started('p1')
    await queued('p1', other)
    expect([await runs.countQueued(acme), await runs.countQueued(other)]).toEqual([2, 1])
  })

  test('a run that has ended, or is deleted, has no owner', async () => {
    const { store, runs, started, queued, end, organizations } = await claimsStore(open)
    await end(await started('p1'))
    expect(await store.rows('SELECT response_id FROM runs')).toEqual([])
    const run = await queued('p1')
    await organizations.delete('acme')
    expect(await store.rows('SELECT response_id FROM runs')).toEqual([])
    expect(await runs.start('p1', run)).toBe(false)
  })
})
