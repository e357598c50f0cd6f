import { expect, onTestFinished, test } from 'bun:test'
import { RunAdoption } from '../../../../src/api/responses/background/adopt-run.ts'
import { OwnedRuns } from '../../../../src/api/responses/background/owned-runs.ts'
import { toStoredJson } from '../../../../src/api/responses/background/stored-run.ts'
import { encodeEvents } from '../../../../src/api/responses/events/event-log.ts'
import { createLiveResponses, LiveResponse } from '../../../../src/api/responses/live/live-response.ts'
import { headOf } from '../../../../src/api/responses/request/head.ts'
import { storedHead } from '../../../../src/api/responses/stored-response.ts'
import { createLocalLimits } from '../../../support/local-limits.ts'
import { serviceUnavailable } from '../../../../src/lib/errors/errors.ts'
import { timeSortedId } from '../../../../src/lib/id.ts'
import { silentLog } from '../../../../src/lib/log.ts'
import type { Ledger } from '../../../../src/storage/ports/ledger.ts'
import { claimsStore } from '../../storage/support/claims-fixture.ts'
import { requestOf } from '../../storage/support/ledger-fixture.ts'
import { type OpenStore, type SharedTestStore, testSharedStores } from '../../storage/support/stores.ts'

/** The runs of the process `p1`, which shares its store with `p2`, and a queued run of it. */
async function ownRuns(open: OpenStore<SharedTestStore>) {
  const fixture = await claimsStore(open)
  const { acme, runs, insert } = fixture
  const live = createLiveResponses()
  const peers = { current: 'p1', id: () => peers.current, count: () => 2 }
  const owned = new OwnedRuns({ peers, runs, live })
  const request = { model: 'acme/river', input: 'river', background: true }
  const head = headOf(request, {
    id: timeSortedId('resp_'),
    createdAt: 1,
    slug: 'acme/river',
    warnings: [],
  })

  /** The run as it was received, or as it is read from the database. */
  function liveRun(): LiveResponse {
    const live = new LiveResponse(acme, head)
    live.apply({ type: 'created' })
    return live
  }

  const facts = requestOf(acme)
  await insert({
    id: head.id,
    organization: acme,
    previousId: undefined,
    head: storedHead(head),
    input: [],
    log: encodeEvents(liveRun().events),
    status: 'queued',
    run: toStoredJson({ request, facts, promptTokens: 1, images: 0 }),
    owner: { process: 'p1', request: facts.id },
  })
  return { ...fixture, live, peers, owned, liveRun, key: liveRun() }
}

testSharedStores((open) => {
  test('a run that a process executes is not queued a second time when the answer that it was stored comes late', async () => {
    const { owned, liveRun } = await ownRuns(open)
    const [continued, late] = [liveRun(), liveRun()]
    expect(owned.add(continued)).toBe(true)
    expect(owned.add(late)).toBe(false)
    expect(await owned.start(continued)).toBe(true)
    expect(owned.add(late)).toBe(false)
  })

  test('a run that a process has lost while it was evicted is queued again under its new id', async () => {
    const { owned, runs, enter, removeProcess, peers, liveRun } = await ownRuns(open)
    const lost = liveRun()
    owned.add(lost)
    await removeProcess('p1')
    peers.current = 'p3'
    await enter('p3')
    expect(await runs.claimAbandoned('p3', 10)).toHaveLength(1)
    const claimed = liveRun()
    expect(owned.add(claimed)).toBe(true)
    expect([await owned.start(lost), await owned.start(claimed)]).toEqual([false, true])
  })

  test('a run that starts while the process claims it back is not taken for one that a dead process has left', async () => {
    const fixture = await ownRuns(open)
    const { owned, runs, responses, liveRun, key, acme } = fixture
    const live = liveRun()
    owned.add(live)
    expect(await runs.claimQueued('p2', 1, [])).toHaveLength(1)
    expect(await runs.claimQueued('p1', 1, [])).toHaveLength(1)
    expect(await owned.start(live)).toBe(true)
    const { adoption, added } = adoptionOf(fixture)
    await adoption.adopt('p1', [key], stoppedAfterTest())
    expect(await responses.find(acme, key.id)).toMatchObject({ status: 'in_progress' })
    expect(added).toEqual([])
  })

  test('a run that a dead process has started fails, although this process has it in its queue', async () => {
    const fixture = await ownRuns(open)
    const { owned, runs, responses, liveRun, key, acme, removeProcess } = fixture
    const live = liveRun()
    owned.add(live)
    expect(await runs.claimQueued('p2', 1, [])).toHaveLength(1)
    expect(await runs.start('p2', key)).toBe(true)
    await removeProcess('p2')
    const { adoption, added } = adoptionOf(fixture)
    await adoption.fail('p1', await runs.claimAbandoned('p1', 1), stoppedAfterTest())
    expect(await responses.find(acme, key.id)).toMatchObject({ status: 'failed' })
    expect(added).toEqual([])
    expect(await owned.start(live)).toBe(false)
  })

  test('a start fails where what an earlier process has left cannot be ended, and later it is tried again', async () => {
    const fixture = await ownRuns(open)
    const { runs, responses, key, acme, removeProcess, enter, store } = fixture
    expect(await runs.start('p1', key)).toBe(true)
    await removeProcess('p1')
    await enter('p3')
    let failures = 2
    const settle: Ledger['settle'] = (...settlement) =>
      failures-- > 0
        ? Promise.reject(serviceUnavailable('The disk is full.'))
        : store.ledger.settle(...settlement)
    const { adoption } = adoptionOf(fixture, { ...store.ledger, settle })
    const left = await runs.claimAbandoned('p3', 1)
    await expect(adoption.fail('p3', left)).rejects.toThrow('The disk is full.')
    await adoption.fail('p3', left, stoppedAfterTest())
    expect(await responses.find(acme, key.id)).toMatchObject({ status: 'failed' })
  })
})

function adoptionOf(
  { runs, owned, store }: Awaited<ReturnType<typeof ownRuns>>,
  ledger: Ledger = store.ledger,
) {
  const added: LiveResponse[] = []
  const { keyDirectory } = store
  const limits = createLocalLimits(() => ({
    requestsPerMinute: 1,
    tokensPerMinute: 1,
    concurrentRequests: 1,
  }))
  const current = () => {
    throw new Error('No model is needed.')
  }
  const adoption = new RunAdoption(
    { current, runs, owned, ledger, limits, keys: keyDirectory(), log: silentLog },
    { add: (run) => void added.push(run.live), drop() {} },
  )
  return { adoption, added }
}

function stoppedAfterTest(): AbortSignal {
  const stopping = new AbortController()
  onTestFinished(() => stopping.abort())
  return stopping.signal
}
