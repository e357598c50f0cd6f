import { expect, onTestFinished, test } from 'bun:test'
import { createLog } from '../../../src/lib/log.ts'
import { createProcessIdentity } from '../../../src/storage/common/process-identity.ts'
import type { PeerHandlers, Peers } from '../../../src/storage/ports/peers.ts'
import { HeartbeatWatch, startHeartbeat } from '../../../src/storage/postgres/cluster/heartbeat.ts'
import type { Processes } from '../../../src/storage/postgres/cluster/processes.ts'
import { waitUntil } from '../../support/billing-database.ts'
import { endedOsProcess } from './support/os-processes.ts'
import { type SharedTestStore, testSharedStores } from './support/stores.ts'

/** A hundredth of the real times. */
const options = { heartbeatIntervalMs: 20, evictAfterMs: 100 }

/** How many heartbeats each process of a store has sent. */
const heartbeats = new WeakMap<SharedTestStore, number[]>()

/**
 * Counts the heartbeats of one more process. The clock goes on when all processes have sent one, so that on a slow machine none
 * is evicted that sends them.
 */
function countHeartbeats(store: SharedTestStore) {
  const counts = heartbeats.get(store) ?? []
  heartbeats.set(store, counts)
  const least = () => Math.min(...counts)
  const index = counts.push(counts.length === 0 ? 0 : least()) - 1
  return {
    onHeartbeat: () => void counts.splice(index, 1, (counts[index] ?? 0) + 1),
    now: () => least() * options.heartbeatIntervalMs,
  }
}

type Events = { abandoned: number; evicted: number; readonly lines: string[] }

type JoinOptions = {
  readonly osProcess?: string
  readonly evictAfterMs?: number
  /** Another clock than that of the heartbeats. */
  readonly now?: () => number
}

/** One more process in the store, with a beat every 20 ms. */
async function join(
  store: SharedTestStore,
  processes: Processes = store.shared.processes,
  { osProcess, evictAfterMs = options.evictAfterMs, now }: JoinOptions = {},
) {
  const process = createProcessIdentity()
  await store.shared.processes.register(process.id(), osProcess)
  const events: Events = { abandoned: 0, evicted: 0, lines: [] }
  const handlers: PeerHandlers = {
    settleAbandoned: async () => void events.abandoned++,
    onEvicted: () => void events.evicted++,
  }
  const log = createLog((line) => void events.lines.push(line))
  const counted = countHeartbeats(store)
  const peers = await startHeartbeat(
    { process, processes, onHeartbeat: counted.onHeartbeat, log },
    { ...options, evictAfterMs, now: now ?? counted.now },
  )
  peers.watch(handlers)
  onTestFinished(peers.stop)
  return { process, peers, events }
}

const isAlone = (peers: Peers) => () => peers.count() === 1

testSharedStores((open) => {
  test('a process without heartbeats is evicted by one of the others, and all of them settle what it left', async () => {
    const store = await open()
    const [one, two] = [await join(store), await join(store)]
    // That of the store itself, which never beats.
    await waitUntil(() => one.peers.count() === 2 && two.peers.count() === 2, 'two are left')
    await waitUntil(() => one.events.abandoned === 1 && two.events.abandoned === 1, 'both settle')
    const removals = [...one.events.lines, ...two.events.lines].filter((line) => line.includes('was evicted'))
    expect(removals).toHaveLength(1)
    expect(removals[0]).toContain(store.shared.process.id())
    expect([one.events.evicted, two.events.evicted]).toEqual([0, 0])
  })

  test.if(process.platform === 'linux')(
    'a process that has ended on this machine is evicted by the first heartbeat of the next one, which settles what it left',
    async () => {
      const store = await open()
      await store.shared.processes.register('ended', await endedOsProcess())
      await store.shared.processes.register('unknown')
      const { process, peers, events } = await join(store, store.shared.processes, { evictAfterMs: 60_000 })
      expect(peers.count()).toBe(3)
      const ids = (await store.shared.processes.list()).map(({ id }) => id)
      expect(ids.toSorted()).toEqual([store.shared.process.id(), process.id(), 'unknown'].toSorted())
      await waitUntil(() => events.abandoned === 1, 'it settles')
      expect(events.lines).toHaveLength(1)
      expect(events.lines[0]).toContain('A process on this machine was killed or crashed. It was evicted.')
    },
  )

  test.if(process.platform === 'linux')(
    'a process that others take for ended by mistake registers again, and is not evicted for that again',
    async () => {
      const store = await open()
      const { processes } = store.shared
      await processes.deregister(store.shared.process.id())
      const osProcess = await endedOsProcess()
      const mistaken = await join(store, processes, { osProcess, evictAfterMs: 60_000 })
      const other = await join(store, processes, { evictAfterMs: 60_000 })
      await waitUntil(() => mistaken.events.evicted === 1, 'it is removed')
      await waitUntil(() => other.peers.count() === 2, 'it has entered again')
      const beatOf = async () => (await processes.list()).find(({ id }) => id === mistaken.process.id())?.beat
      await waitUntil(async () => Number(await beatOf()) >= 5, 'it goes on beating')
      expect(mistaken.events.evicted).toBe(1)
    },
  )

  test('the oldest process is the first, and the next one when that has left', async () => {
    const store = await open()
    await store.shared.processes.deregister(store.shared.process.id())
    const one = await join(store)
    await Bun.sleep(2)
    const two = await join(store)
    await waitUntil(() => one.peers.count() === 2, 'the other is noticed')
    expect([one.peers.isFirst(), two.peers.isFirst()]).toEqual([true, false])
    one.peers.stop()
    await store.shared.processes.deregister(one.process.id())
    await waitUntil(() => two.peers.isFirst(), 'the second is the first')
    await waitUntil(() => two.events.abandoned === 1, 'the second settles')
    expect(two.events.lines).toEqual([])
  })

  test('the handler of a process that was evicted is called once, and it goes on under another id', async () => {
    const store = await open()
    const { process, peers, events } = await join(store)
    const before = process.id()
    const [found] = (await store.shared.processes.list()).filter(({ id }) => id === before)
    await store.rows(`DELETE FROM processes WHERE id = '${found?.id}'`)
    await waitUntil(() => events.evicted === 1 && process.id() !== before, 'it is told')
    await waitUntil(isAlone(peers), 'it has entered')
    expect((await store.shared.processes.list()).map(({ id }) => id)).toEqual([process.id()])
    expect(events.evicted).toBe(1)
    expect(events.lines.filter((line) => line.includes('this process was evicted'))).toHaveLength(1)
  })

  test('while the store cannot be reached no process is evicted, not even when it is back', async () => {
    const store = await open()
    const missed = options.evictAfterMs / options.heartbeatIntervalMs
    let [failing, attempts] = [false, 0]
    const { processes } = store.shared
    const broken = (work: (id: string) => Promise<boolean>) => (id: string) => {
      attempts++
      return failing ? Promise.reject(new Error('The store is gone.')) : work(id)
    }
    const now = () => attempts * options.heartbeatIntervalMs
    const one = await join(store, { ...processes, heartbeat: broken(processes.heartbeat) }, { now })
    await waitUntil(isAlone(one.peers), 'it is alone')
    await processes.register('other')
    await waitUntil(() => one.peers.count() === 2, 'the other is noticed')
    failing = true
    const failingFrom = attempts
    await waitUntil(() => attempts > failingFrom + 2 * missed, 'twice as many heartbeats as may be missed')
    expect(one.peers.count()).toBe(2)
    failing = false
    const backAt = attempts
    await waitUntil(isAlone(one.peers), 'it is alone')
    expect(attempts - backAt).toBeGreaterThanOrEqual(missed)
  })

  test('what could not be settled is settled after a later heartbeat', async () => {
    const store = await open()
    const process = createProcessIdentity()
    await store.shared.processes.register(process.id())
    const lines: string[] = []
    const log = createLog((line) => void lines.push(line))
    const { processes } = store.shared
    const peers = await startHeartbeat({ process, processes, log }, options)
    onTestFinished(peers.stop)
    let attempts = 0
    const settleAbandoned = async () => {
      if (++attempts < 3) throw new Error('The store is busy.')
    }
    peers.watch({ settleAbandoned, onEvicted: () => {} })
    await waitUntil(() => attempts === 3, 'it is settled')
    expect(lines.filter((line) => line.includes('could not be settled yet'))).toHaveLength(2)
  })
})

test('a process is to be evicted when its count stayed the same for that time, between two observations', () => {
  let now = 0
  const watch = new HeartbeatWatch({ evictAfterMs: 10, maxGapMs: 5, now: () => now })
  const at = (time: number, beat: number) => {
    now = time
    return watch.observe([{ id: 'other', beat }], time).length
  }
  expect([at(0, 1), at(4, 1), at(8, 2), at(12, 2), at(16, 2), at(17, 2), at(18, 2)]).toEqual([
    0, 0, 0, 0, 0, 0, 1,
  ])
})

test('a process that was itself suspended evicts no other for what it has missed', () => {
  let now = 0
  const watch = new HeartbeatWatch({ evictAfterMs: 10, maxGapMs: 5, now: () => now })
  const at = (time: number) => {
    now = time
    return watch.observe([{ id: 'other', beat: 1 }], time).length
  }
  expect([at(0), at(4), at(20), at(24), at(28), at(30)]).toEqual([0, 0, 0, 0, 0, 1])
  watch.reset()
  expect([at(34), at(38), at(42), at(44)]).toEqual([0, 0, 0, 1])
})
