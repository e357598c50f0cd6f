import { expect, test } from 'bun:test'
import { firstKey } from '../../support/app.ts'
import { cancelledRun, queueRun, waitForOutput, waitForRun } from '../../support/background.ts'
import { waitUntil } from '../../support/billing-database.ts'
import { streamReply } from '../../support/chat-fixtures.ts'
import { replayResponse, retrieveResponse, textOf } from '../../support/responses.ts'
import { expectConsistent } from '../../unit/storage/support/ledger-fixture.ts'
import { appAt, countInputs, endlessReply, prepareRunGateways } from './support/run-gateways.ts'
import { testSharedDatabases } from './support/shared-database.ts'

const interrupted = 'The gateway stopped before the response was complete. Try again.'

const isInProgress = ({ status }: { readonly status: string }) => status === 'in_progress'

testSharedDatabases((create) => {
  test('runs of a killed and of a suspended process fail or are executed by others, and each only once', async () => {
    const database = await create()
    const { start, spawn, upstream } = await prepareRunGateways(database, endlessReply)
    const survivors = await Promise.all([start(), start()])
    const [survivor, other] = survivors
    const serving = await Promise.all([spawn(), spawn()])
    const [killed, suspended] = serving.map(({ url }) => appAt(url, firstKey))
    await database.fund(10_000_000_000n)
    // All are busy, so the queued runs stay where they are.
    const busy = await Promise.all(
      [...survivors, killed!, suspended!].map((app, index) => queueRun(app, { input: `busy ${index}` })),
    )
    for (const { id } of busy) await waitForOutput(survivor, id, 'It is ')
    // One that was idle may have executed the run of another one.
    const owners = await database.rows('SELECT response_id id, process_id owner FROM runs')
    const [kept = '', freed = ''] = survivors.map(({ runtime }) =>
      String(owners.find(({ owner }) => owner === runtime.process.id())?.id),
    )
    const lost = busy.map(({ id }) => id).filter((id) => id !== kept && id !== freed)
    expect(lost).toHaveLength(2)
    const waiting = await Promise.all(
      Array.from({ length: 10 }, (_, index) =>
        queueRun(index % 2 === 0 ? killed! : suspended!, { input: `queued ${index}` }),
      ),
    )
    const followed = lost.map((id) => replayResponse(other, id))
    upstream.respondWith(streamReply())

    process.kill(serving[0].pid, 'SIGKILL')
    process.kill(serving[1].pid, 'SIGSTOP')
    const ends = await Promise.all(followed)
    for (const [index, id] of lost.entries()) {
      const failed = await retrieveResponse(survivor, id)
      expect(failed).toMatchObject({ status: 'failed', error: { message: interrupted } })
      expect(textOf(failed)).toBe('It is ')
      expect(ends[index]).toMatchObject({ last: failed })
      expect((await replayResponse(survivor, id)).text).toBe(ends[index]?.text ?? '')
    }
    // The queued runs are executed once there is a free process.
    await cancelledRun(other, freed)
    for (const { id } of waiting)
      expect(await waitForRun(survivor, id)).toMatchObject({ status: 'completed' })

    process.kill(serving[1].pid, 'SIGCONT')
    const states = () =>
      Promise.all([...lost, ...waiting.map(({ id }) => id)].map((id) => retrieveResponse(survivor, id)))
    const before = await states()
    // It serves again, and has changed nothing of what the others have settled.
    const serves = () => retrieveResponse(suspended!, kept).then(isInProgress, () => false)
    await waitUntil(serves, 'the suspended process serves again')
    // It may find out only now that it was interrupted: it rejects a run then, and continues a moment later.
    let own: { readonly id: string } | undefined
    const queues = async () => {
      own = await queueRun(suspended!, { input: 'later' }).catch(() => undefined)
      return own !== undefined
    }
    await waitUntil(queues, 'the suspended process accepts a run')
    expect(await waitForRun(survivor, own!.id)).toMatchObject({ status: 'completed' })
    expect(await states()).toEqual(before)
    await cancelledRun(survivor, kept)
    const counts = [...countInputs(upstream)]
    expect(counts).toHaveLength(15)
    expect(counts.filter(([, count]) => count > 1)).toEqual([])
    // Those that the suspended process has rejected before it continued have cost nothing.
    const usage = await database.rows(
      "SELECT error, count(*) count FROM usage WHERE status <> 503 OR error <> 'service_unavailable' OR cost > 0 GROUP BY error",
    )
    expect(new Map(usage.map(({ error, count }) => [error, Number(count)]))).toEqual(
      new Map<unknown, number>([
        ['interrupted', 2],
        ['cancelled', 2],
        [null, 11],
      ]),
    )
    const [account] = await database.rows('SELECT reserved FROM organizations')
    expect(Number(account?.reserved)).toBe(0)
    expect(await database.rows('SELECT * FROM runs')).toEqual([])
    await expectConsistent(database)
  }, 120_000)
})
