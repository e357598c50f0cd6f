import { noLimits } from '../../../../src/domain/accounting/allowance.ts'
import { describe, expect, test } from 'bun:test'
import { LiveResponse } from '../../../../src/api/responses/live/live-response.ts'
import { headOf } from '../../../../src/api/responses/request/head.ts'
import type { Run } from '../../../../src/api/responses/background/run.ts'
import { RunQueue } from '../../../../src/api/responses/background/run-queue.ts'
import { callerOf, createLocalLimits } from '../../../support/local-limits.ts'
import { requestOf } from '../../storage/support/ledger-fixture.ts'

const limits = createLocalLimits(() => ({
  requestsPerMinute: 1,
  tokensPerMinute: 1,
  concurrentRequests: 1,
}))

/** Runs with these ids, of the organizations that their first letters name. */
function queueOf(...ids: string[]) {
  const queue = new RunQueue()
  const runs = new Map(ids.map((id) => [id, runOf(id)]))
  for (const run of runs.values()) queue.add(run)
  return { queue, live: (id: string) => runs.get(id)!.live }
}

function runOf(id: string, key = 'abcdefghijkl'): Run {
  const organization = id.slice(0, 1)
  const request = { model: 'acme/river', input: 'river', background: true }
  const head = headOf(request, { id, createdAt: 1, slug: 'acme/river', warnings: [] })
  return {
    live: new LiveResponse(organization, head),
    metadata: { ...requestOf(organization), key },
    slot: limits.resume(
      callerOf({ id: organization, name: organization, billing: 'unmetered', limits: noLimits }),
    ),
  }
}

function takeAll(queue: RunQueue): string[] {
  const taken: string[] = []
  for (let run = queue.first(); run; run = queue.first()) {
    taken.push(run.live.id)
    queue.removeFirst()
  }
  return taken
}

describe('the queue of runs', () => {
  test('gives each organization one turn after the other, its oldest run first', () => {
    const { queue } = queueOf('a1', 'a2', 'a3', 'b1', 'b2', 'c1')
    expect(takeAll(queue)).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'a3'])
    expect([queue.size, queue.characters, queue.countsOf('a')]).toEqual([0, 0, { size: 0, characters: 0 }])
  })

  test('skips the runs of a paused organization until that is resumed', () => {
    const { queue, live } = queueOf('a1', 'a2', 'b1')
    queue.park()
    expect([queue.first()?.live.id, queue.parked.size]).toEqual(['b1', 1])
    queue.add(runOf('a3'))
    expect(takeAll(queue)).toEqual(['b1'])
    queue.unpark('b')
    expect(queue.first()).toBeUndefined()
    expect(queue.remove(live('a1'))?.live.id).toBe('a1')
    queue.unpark('a')
    expect([queue.parked.size, ...takeAll(queue)]).toEqual([0, 'a2', 'a3'])
  })

  test('drops an organization with its last run', () => {
    const { queue, live } = queueOf('a1', 'b1')
    queue.park()
    expect(queue.remove(live('a1'))?.live.id).toBe('a1')
    expect(queue.remove(live('a1'))).toBeUndefined()
    expect([queue.parked.size, queue.countsOf('a').size]).toEqual([0, 0])
    queue.unpark()
    expect(takeAll(queue)).toEqual(['b1'])
  })

  test('skips the runs of one key until its organization is unparked', () => {
    const { queue } = queueOf()
    const [first, second] = [runOf('a1', 'busy'), runOf('a2', 'busy')]
    for (const run of [first, second, runOf('a3', 'free'), runOf('b1')]) queue.add(run)
    queue.skipKey(first)
    expect(takeAll(queue)).toEqual(['a3', 'b1'])
    expect([queue.isWaiting(), queue.parked.has('a')]).toEqual([true, true])
    queue.add(runOf('a4', 'free'))
    queue.unpark('a')
    expect([queue.isWaiting(), ...takeAll(queue)]).toEqual([false, 'a1', 'a2', 'a4'])
  })

  test('parks an organization when each of its keys is skipped, and gives others their turns', () => {
    const { queue } = queueOf()
    const [busy, full] = [runOf('a1', 'busy'), runOf('a2', 'full')]
    for (const run of [busy, full, runOf('b1')]) queue.add(run)
    queue.skipKey(busy)
    queue.skipKey(full)
    expect(queue.first()?.live.id).toBe('b1')
    queue.unpark()
    queue.skipKey(busy)
    expect(queue.remove(full.live)?.live.id).toBe('a2')
    expect(takeAll(queue)).toEqual(['b1'])
    expect(queue.remove(busy.live)?.live.id).toBe('a1')
    expect([queue.isWaiting(), queue.size]).toEqual([false, 0])
  })
})
