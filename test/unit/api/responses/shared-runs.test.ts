import { expect, onTestFinished, test } from 'bun:test'
import { createSharedOwnership } from '../../../../src/api/responses/background/shared/shared-ownership.ts'
import { TakeOver } from '../../../../src/api/responses/background/shared/take-over.ts'
import { toStoredJson } from '../../../../src/api/responses/background/stored-run.ts'
import { encodeEvents } from '../../../../src/api/responses/events/event-log.ts'
import { LiveResponse } from '../../../../src/api/responses/live/live-response.ts'
import { createLiveResponses } from '../../../../src/api/responses/live/live-responses.ts'
import { headOf } from '../../../../src/api/responses/request/head.ts'
import { storedHead } from '../../../../src/api/responses/stored-response.ts'
import { createLocalLimits } from '../../../support/local-limits.ts'
import { timeSortedId } from '../../../../src/lib/id.ts'
import { quietLog } from '../../storage/support/folder.ts'
import { claimsStore } from '../../storage/support/claims-fixture.ts'
import { requestOf } from '../../storage/support/ledger-fixture.ts'
import {
  type OpenStore,
  type SharedTestStore,
  testSharedStores,
  type TestStore,
} from '../../storage/support/stores.ts'

/** The runs of the process `p1`, which shares its store with `p2`, and a queued run of it. */
async function ownRuns(open: OpenStore<SharedTestStore>) {
  const fixture = await claimsStore(open)
  const { acme, runs: claims, insert } = fixture
  const [registry, waiting] = [createLiveResponses(), createLiveResponses()]
  const process = { current: 'p1', id: () => process.current }
  const ownership = createSharedOwnership({ process, claims, waiting }, registry)
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
  return { ...fixture, claims, registry, waiting, process, ownership, liveRun, key: liveRun() }
}

testSharedStores((open) => {
  test('a run that a process executes is not queued a second time when the answer that it was stored comes late', async () => {
    const { ownership, liveRun } = await ownRuns(open)
    const [continued, late] = [liveRun(), liveRun()]
    expect(ownership.add(continued)).toBe(true)
    expect(ownership.add(late)).toBe(false)
    expect(await ownership.start(continued)).toBe(true)
    expect(ownership.add(late)).toBe(false)
  })

  test('a run that a process has lost while it was removed is queued again under its new id', async () => {
    const { ownership, claims, enter, removeProcess, process, liveRun } = await ownRuns(open)
    const lost = liveRun()
    ownership.add(lost)
    await removeProcess('p1')
    process.current = 'p3'
    await enter('p3')
    expect(await claims.claimAbandoned('p3', 10)).toHaveLength(1)
    const claimed = liveRun()
    expect(ownership.add(claimed)).toBe(true)
    expect([await ownership.start(lost), await ownership.start(claimed)]).toEqual([false, true])
  })

  test('a run that starts while the process claims it back is not taken for one that a dead process has left', async () => {
    const fixture = await ownRuns(open)
    const { ownership, claims, responses, liveRun, key, acme } = fixture
    const live = liveRun()
    ownership.add(live)
    expect(await claims.claimQueued('p2', 1, [])).toHaveLength(1)
    expect(await claims.claimQueued('p1', 1, [])).toHaveLength(1)
    expect(await ownership.start(live)).toBe(true)
    const { takeOver, added } = takeOverOf(fixture)
    await takeOver.continue('p1', [key])
    expect(await responses.find(acme, key.id)).toMatchObject({ status: 'in_progress' })
    expect(added).toEqual([])
  })

  test('a run that a dead process has started fails, although this process has it in its queue', async () => {
    const fixture = await ownRuns(open)
    const { ownership, claims, responses, liveRun, key, acme, removeProcess } = fixture
    const live = liveRun()
    ownership.add(live)
    expect(await claims.claimQueued('p2', 1, [])).toHaveLength(1)
    expect(await claims.start('p2', key)).toBe(true)
    await removeProcess('p2')
    const { takeOver, added } = takeOverOf(fixture)
    await takeOver.fail('p1', await claims.claimAbandoned('p1', 1))
    expect(await responses.find(acme, key.id)).toMatchObject({ status: 'failed' })
    expect(added).toEqual([])
    expect(await ownership.start(live)).toBe(false)
  })
})

function takeOverOf({ claims, ownership, store }: Awaited<ReturnType<typeof ownRuns>>) {
  const added: LiveResponse[] = []
  const takeOver = new TakeOver(
    { claims, recovery: recoveryOf(store) },
    { has: ownership.has, add: (run) => void added.push(run.live), drop() {} },
    stoppedAfterTest(),
  )
  return { takeOver, added }
}

function recoveryOf({ responses, ledger, keyDirectory }: TestStore) {
  const limits = createLocalLimits(() => ({
    requestsPerMinute: 1,
    tokensPerMinute: 1,
    concurrentRequests: 1,
  }))
  const models = () => {
    throw new Error('No model is needed.')
  }
  return { responses, ledger, limits, keys: keyDirectory(), models, log: quietLog }
}

function stoppedAfterTest(): AbortSignal {
  const stopping = new AbortController()
  onTestFinished(() => stopping.abort())
  return stopping.signal
}
