import { expect, onTestFinished, test } from 'bun:test'
import { createLog } from '../../../src/lib/log.ts'
import { createProcessWatch } from '../../../src/storage/common/process-watch.ts'
import { createProcessIdentity } from '../../../src/storage/common/process-identity.ts'
import {
  type Membership,
  type MembershipReactions,
  startMembership,
} from '../../../src/storage/membership.ts'
import type { Processes } from '../../../src/storage/ports/processes.ts'
import { waitUntil } from '../../support/billing-database.ts'
import { endedOsProcess } from './support/os-processes.ts'
import { type SharedTestStore, testSharedStores } from './support/stores.ts'

/** A hundredth of the real times. */
const options = { beatIntervalMs: 20, silenceMs: 100 }

type Events = { abandoned: number; removed: number; readonly lines: string[] }

/** One more process in the store, with a beat every 20 ms. */
async function join(
  store: SharedTestStore,
  processes: Processes = store.shared.processes,
  { osProcess, silenceMs = options.silenceMs }: { osProcess?: string; silenceMs?: number } = {},
) {
  const process = createProcessIdentity()
  await store.shared.processes.enter(process.id(), osProcess)
  const events: Events = { abandoned: 0, removed: 0, lines: [] }
  const reactions: MembershipReactions = {
    settleAbandoned: async () => void events.abandoned++,
    onRemoved: () => void events.removed++,
  }
  const log = createLog((line) => void events.lines.push(line))
  const membership = await startMembership({ process, processes }, log, { ...options, silenceMs })
  membership.react(reactions)
  onTestFinished(membership.stop)
  return { process, membership, events }
}

const isAlone = (membership: Membership) => () => membership.count() === 1

testSharedStores((open) => {
  test('a process that does not beat is removed by one of the others, and all of them settle what it left', async () => {
    const store = await open()
    const [one, two] = [await join(store), await join(store)]
    // That of the store itself, which never beats.
    await waitUntil(() => one.membership.count() === 2 && two.membership.count() === 2, 'two are left')
    await waitUntil(() => one.events.abandoned === 1 && two.events.abandoned === 1, 'both settle')
    const removals = [...one.events.lines, ...two.events.lines].filter((line) => line.includes('was removed'))
    expect(removals).toHaveLength(1)
    expect(removals[0]).toContain(store.shared.process.id())
    expect([one.events.removed, two.events.removed]).toEqual([0, 0])
  })

  test.if(process.platform === 'linux')(
    'a process that has ended on this machine is removed by the first beat of the next one, which settles what it left',
    async () => {
      const store = await open()
      await store.shared.processes.enter('ended', await endedOsProcess())
      await store.shared.processes.enter('unknown')
      const { process, membership, events } = await join(store, store.shared.processes, { silenceMs: 60_000 })
      expect(membership.count()).toBe(3)
      const ids = (await store.shared.processes.list()).map(({ id }) => id)
      expect(ids.toSorted()).toEqual([store.shared.process.id(), process.id(), 'unknown'].toSorted())
      await waitUntil(() => events.abandoned === 1, 'it settles')
      expect(events.lines).toHaveLength(1)
      expect(events.lines[0]).toContain(
        'Another process on this machine was killed or crashed, and was removed.',
      )
    },
  )

  test.if(process.platform === 'linux')(
    'a process that others take for ended by mistake enters again, and is not judged by that again',
    async () => {
      const store = await open()
      const { processes } = store.shared
      await processes.leave(store.shared.process.id())
      const osProcess = await endedOsProcess()
      const mistaken = await join(store, processes, { osProcess, silenceMs: 60_000 })
      const other = await join(store, processes, { silenceMs: 60_000 })
      await waitUntil(() => mistaken.events.removed === 1, 'it is removed')
      await waitUntil(() => other.membership.count() === 2, 'it has entered again')
      const beatOf = async () => (await processes.list()).find(({ id }) => id === mistaken.process.id())?.beat
      await waitUntil(async () => Number(await beatOf()) >= 5, 'it goes on beating')
      expect(mistaken.events.removed).toBe(1)
    },
  )

  test('the oldest process is the first, and the next one when that has left', async () => {
    const store = await open()
    await store.shared.processes.leave(store.shared.process.id())
    const one = await join(store)
    await Bun.sleep(2)
    const two = await join(store)
    await waitUntil(() => one.membership.count() === 2, 'the other is noticed')
    expect([one.membership.isFirst(), two.membership.isFirst()]).toEqual([true, false])
    one.membership.stop()
    await store.shared.processes.leave(one.process.id())
    await waitUntil(() => two.membership.isFirst(), 'the second is the first')
    await waitUntil(() => two.events.abandoned === 1, 'the second settles')
    expect(two.events.lines).toEqual([])
  })

  test('a process that was removed is told so once, and goes on under another id', async () => {
    const store = await open()
    const { process, membership, events } = await join(store)
    const before = process.id()
    const [found] = (await store.shared.processes.list()).filter(({ id }) => id === before)
    await store.rows(`DELETE FROM processes WHERE id = '${found?.id}'`)
    await waitUntil(() => events.removed === 1 && process.id() !== before, 'it is told')
    await waitUntil(isAlone(membership), 'it has entered')
    expect((await store.shared.processes.list()).map(({ id }) => id)).toEqual([process.id()])
    expect(events.removed).toBe(1)
    expect(events.lines.filter((line) => line.includes('was taken for dead'))).toHaveLength(1)
  })

  test('while the store cannot be reached nobody is judged, not even when it is back', async () => {
    const store = await open()
    let failing = false
    const { processes } = store.shared
    const broken = (work: (id: string) => Promise<boolean>) => (id: string) =>
      failing ? Promise.reject(new Error('The store is gone.')) : work(id)
    const one = await join(store, { ...processes, beat: broken(processes.beat) })
    await waitUntil(isAlone(one.membership), 'it is alone')
    await processes.enter('other')
    await waitUntil(() => one.membership.count() === 2, 'the other is noticed')
    failing = true
    await Bun.sleep(3 * options.silenceMs)
    failing = false
    const backAt = performance.now()
    await waitUntil(isAlone(one.membership), 'it is alone')
    expect(performance.now() - backAt).toBeGreaterThan(options.silenceMs - options.beatIntervalMs)
  })

  test('what could not be settled is settled after a later beat', async () => {
    const store = await open()
    const process = createProcessIdentity()
    await store.shared.processes.enter(process.id())
    const lines: string[] = []
    const log = createLog((line) => void lines.push(line))
    const { processes } = store.shared
    const membership = await startMembership({ process, processes }, log, options)
    onTestFinished(membership.stop)
    let attempts = 0
    const settleAbandoned = async () => {
      if (++attempts < 3) throw new Error('The store is busy.')
    }
    membership.react({ settleAbandoned, onRemoved: () => {} })
    await waitUntil(() => attempts === 3, 'it is settled')
    expect(lines.filter((line) => line.includes('could not be settled yet'))).toHaveLength(2)
  })
})

test('a process is silent when its count stayed the same for the time of silence, between two observations', () => {
  let now = 0
  const { observe } = createProcessWatch({ silenceMs: 10, maxGapMs: 5, now: () => now })
  const at = (time: number, beat: number) => {
    now = time
    return observe([{ id: 'other', beat }], time).length
  }
  expect([at(0, 1), at(4, 1), at(8, 2), at(12, 2), at(16, 2), at(17, 2), at(18, 2)]).toEqual([
    0, 0, 0, 0, 0, 0, 1,
  ])
})

test('a process that was itself suspended judges nobody for what it has missed', () => {
  let now = 0
  const { observe, reset } = createProcessWatch({ silenceMs: 10, maxGapMs: 5, now: () => now })
  const at = (time: number) => {
    now = time
    return observe([{ id: 'other', beat: 1 }], time).length
  }
  expect([at(0), at(4), at(20), at(24), at(28), at(30)]).toEqual([0, 0, 0, 0, 0, 1])
  reset()
  expect([at(34), at(38), at(42), at(44)]).toEqual([0, 0, 0, 1])
})
